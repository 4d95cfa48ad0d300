// SPDX-License-Identifier: GPL-2.0-or-later
// What eslint looks for in the page's code: its recommended rules, and what they leave out that has hidden a fault.
import js from "@eslint/js";

const names = (text) => Object.fromEntries(text.split(" ").map((name) => [name, "readonly"]));

/** What code of the page may use of a browser: no part of the network, of storage or of dialogues. */
const PAGE = names("Blob DecompressionStream MessageChannel MutationObserver Path2D ResizeObserver Response TextDecoder URL URLSearchParams addEventListener " +
	"atob cancelAnimationFrame devicePixelRatio document getComputedStyle history innerHeight innerWidth location matchMedia " +
	"navigator performance removeEventListener requestAnimationFrame setTimeout clearTimeout");

const RULES = {
	"array-callback-return": "error",
	"consistent-return": "error",
	"default-case-last": "error",
	eqeqeq: "error",
	"no-caller": "error",
	"no-eval": "error",
	"no-implied-eval": "error",
	"no-new-func": "error",
	"no-restricted-properties": ["error", { property: "innerHTML" }, { property: "outerHTML" }, { property: "insertAdjacentHTML" },
		{ object: "document", property: "write" }],
	"no-script-url": "error",
	"no-self-compare": "error",
	"no-shadow": "error",
	"no-template-curly-in-string": "error",
	"no-throw-literal": "error",
	"no-unreachable-loop": "error",
	"no-unused-expressions": "error",
	"no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
	"no-var": "error",
	"prefer-const": "error",
	"max-len": ["error", { code: 200, tabWidth: 8, ignoreComments: false }],
};

export default [
	js.configs.recommended,
	{ linterOptions: { reportUnusedDisableDirectives: "error" }, rules: RULES },
	{ files: ["web/**/*.js"], languageOptions: { globals: PAGE } },
	{ files: ["tests/web/**/*.mjs"], languageOptions: { globals: names("process console URL performance setTimeout document") } },
];
