/* Operands that name a process. */
#include "src/cmd/pid.h"

#include <errno.h>
#include <stdint.h>

#include "src/base/fmt.h"
#include "src/cmd/cmd.h"

int cmd_parse_pid(const char *text, pid_t *pid, struct err *e)
{
	uint64_t n = 0;

	if (!fmt_parse_uint(text, &n, NULL) && n && n <= INT32_MAX) {
		*pid = (pid_t)n;
		return 0;
	}
	err_set(e, -EINVAL, "'%s' is not a process number", text);
	err_hint(e, "'pmm report FILE' shows a capture that was written");
	if (e)
		e->exit_code = CMD_USAGE;
	return -EINVAL;
}
