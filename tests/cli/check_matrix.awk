# SPDX-License-Identifier: GPL-2.0-or-later
# check_matrix.table as cases: with -v level=LEVEL what is expected, a line "ERROR ENTRY: FINDING" each (with "status N" of those that do not end
# with 0); several stand behind one another in the table, "; " between them. Without, lines "PROGRAM:ERROR ENTRY" for each_line.

function has(list, item) { return index("," list ",", "," item ",") > 0 }

# How a report names a release.
function word(release)
{
	sub(/-nothrow$/, "", release)
	sub(/-array/, "[]", release)
	sub(/-sized-aligned$/, "-with-a-size-and-an-alignment", release)
	sub(/-(sized|other-size)$/, "-with-a-size", release)
	sub(/-(aligned|other-align)$/, "-with-an-alignment", release)
	return release
}

function name(text) { gsub(/-/, "_", text); return "by_" text }

function filled(error, entry, text,    i, n, w, out, plus)
{
	n = split(text, w, " ")
	for (i = 1; i <= n; i++) {
		if (w[i] ~ /^BLOCK/) {
			plus = substr(w[i], 7)
			w[i] = block[entry] + plus
		}
		if (w[i] == "KIND") w[i] = kind[entry]
		if (w[i] == "CALLED") w[i] = word(released[entry])
		if (w[i] == "AS") w[i] = word(substr(error, 4))
		if (w[i] == "MAKE") w[i] = name(entry)
		sub(/^DROP/, name(released[entry]), w[i])
		out = out (i > 1 ? " " : "") w[i]
	}
	return out
}

function rule(error, entry,    i)
{
	for (i = 1; i <= rules[error]; i++)
		if ((levels[error, i] == "*" || has(levels[error, i], level)) &&
		    (whose[error, i] == "*" || has(whose[error, i], entry) || has(whose[error, i], class[entry])))
			return filled(error, entry, text[error, i])
	return "no rule"
}

/^#/ || !NF { next }
$1 == "entry" {
	entries[++nr_entries] = $2
	program[$2] = $3; block[$2] = $4; kind[$2] = $5; released[$2] = $6; class[$2] = $7
	next
}
$1 == "error" {
	errors[++nr_errors] = $2
	on[$2] = $3
	for (i = 4; i <= NF; i++)
		without[$2] = without[$2] "," substr($i, 2)
	next
}
{
	i = ++rules[$1]
	levels[$1, i] = $2
	whose[$1, i] = substr($3, 1, length($3) - 1)
	text[$1, i] = $4
	for (f = 5; f <= NF; f++)
		text[$1, i] = text[$1, i] " " $f
}

END {
	for (e = 1; e <= nr_errors; e++)
		for (n = 1; n <= nr_entries; n++) {
			error = errors[e]; entry = entries[n]
			if (on[error] == "all" ? has(without[error], entry) || entry ~ /-cxx$/ : !has(on[error], entry))
				continue
			if (level == "")
				print program[entry] ":" error " " entry
			else if ((line = rule(error, entry)) != "nothing") {
				parts = split(line, part, "; ")
				for (i = 1; i <= parts; i++)
					print error " " entry ": " part[i]
			}
		}
}
