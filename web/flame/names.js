// SPDX-License-Identifier: GPL-2.0-or-later
// Function names of C++ and Rust made shorter, for people: without template arguments, without
// parameters, without scopes.

// Operators whose names have angle brackets of their own.
const OPERATOR = /^operator(<=>|<<=?|>>=?|->\*?|<=?|>=?)/;

function bracketed(name, i) {
	return name[i] === "o" && (i === 0 || !/[\w$]/.test(name[i - 1])) &&
		OPERATOR.exec(name.slice(i, i + 11));
}

// "std::vector<int>::push_back(int&&)" -> "std::vector<…>::push_back(int&&)". What begins a name
// with a bracket, such as Rust's "<T as Trait>::f", keeps the bracket.
export function withoutTemplates(name) {
	if (!name.includes("<")) {
		return name;
	}
	let out = "";
	let depth = 0;
	for (let i = 0; i < name.length; i++) {
		const c = name[i];
		const operator = bracketed(name, i);
		if (operator) {
			out += depth ? "" : operator[0];
			i += operator[0].length - 1;
		} else if (c === "<" && (depth || /[\w$]/.test(out.slice(-1)) ||
			/(^|\W)operator(<|<<|->)$/.test(out))) {
			out += depth++ ? "" : "<…>";
		} else if (depth && c === ">" && name[i - 1] !== "-") {
			depth--;
		} else if (!depth) {
			out += c;
		}
	}
	return depth ? name : out;
}

// Positions of characters outside of all brackets, told to `see` from the left.
function outside(name, see) {
	let depth = 0;
	for (let i = 0; i < name.length; i++) {
		const c = name[i];
		const operator = bracketed(name, i);
		if (operator) {
			i += operator[0].length - 1;
		} else if (c === "(" || c === "<" || c === "[" || c === "{") {
			if (!depth++) {
				see(c, i);
			}
		} else if (c === ")" || c === "]" || c === "}" || (c === ">" && name[i - 1] !== "-")) {
			depth = Math.max(0, depth - 1);
		} else if (!depth) {
			see(c, i);
		}
	}
}

// "ns::f(int, char) const" -> "ns::f". "(anonymous namespace)::f" and "operator()" stay whole.
export function withoutParameters(name) {
	let end = name.length;
	outside(name, (c, i) => {
		if (c === "(" && i && end === name.length && !/(operator|::)$/.test(name.slice(0, i))) {
			end = i;
		}
	});
	return name.slice(0, end);
}

// "ns::Class<int>::f(int)" -> "f".
export function shortName(name) {
	const bare = withoutParameters(withoutTemplates(name));
	let start = 0;
	outside(bare, (c, i) => {
		if ((c === ":" && bare[i - 1] === ":") || (c === " " && !bare.startsWith("operator", start))) {
			start = i + 1;
		}
	});
	return bare.slice(start) || bare;
}

// The last part of a path.
export function baseName(path) {
	return path.slice(path.lastIndexOf("/") + 1);
}
