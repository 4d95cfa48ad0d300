# SPDX-License-Identifier: GPL-2.0-or-later
# suppressions.supp as C, a string
s/[\\"]/\\&/g
s/.*/"&\\n"/
1i\
/* Made of src/analyze/suppress/suppressions.supp. */\
extern const char suppress_default_text[];\
const char suppress_default_text[] =
$a\
;
