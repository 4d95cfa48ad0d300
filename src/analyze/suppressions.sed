# a text as C string literals, a line each
s/[\\"]/\\&/g
s/.*/"&\\n"/
