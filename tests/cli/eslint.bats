#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The page's code as eslint sees it, by the rules of web/eslint.config.mjs.

load lib

# eslint FOLDER ARG...: run in that folder, with the rules. eslint is no part of pmm and no package of Debian 12 that is new enough.
eslint() {
	(cd "$1" && "$T/node_modules/.bin/eslint" --config "$T/eslint.config.mjs" --max-warnings 0 "${@:2}")
}

@test "eslint: nothing in the page's code, and what is planted is found" {
	need node npm
	timeout 90 npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix "$T" eslint@9.39.1 >/dev/null 2>&1 ||
		skip "npm cannot fetch eslint"
	cp "$ROOT/web/eslint.config.mjs" "$T"
	eslint "$ROOT" web tests/web

	mkdir -p "$T/planted/web"
	cat >"$T/planted/web/bad.js" <<-'END'
		export function show(element, name) {
			const unused = 1;
			element.innerHTML = name;
			return fetch(name);
		}
	END
	! eslint "$T/planted" --format json web >"$T/found" || false
	diff <(jq -r '.[].messages[].ruleId' "$T/found" | sort) - <<-'END'
		no-restricted-properties
		no-undef
		no-unused-vars
	END
}
