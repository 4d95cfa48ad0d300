/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ways to a bug that C++ alone has, for programs of generated bugs. */
#include <functional>
#include <stdexcept>
#include <thread>

#include "bugs.h"

namespace {

go_fn *pending;
int pending_wrong;

struct Base {
	virtual ~Base() {}
	virtual void run(int wrong) = 0;
};

struct Derived : Base {
	go_fn *go;
	explicit Derived(go_fn *g) : go(g) {}
	void run(int wrong) override { go(wrong); }
};

struct Unwinding {
	go_fn *go;
	int wrong;
	~Unwinding() { go(wrong); }
};

/* Its destructor runs after main. */
struct Static {
	~Static()
	{
		if (pending)
			pending(pending_wrong);
	}
} at_the_end;

SITE void throws(int depth)
{
	if (!depth)
		throw std::runtime_error("thrown");
	throws(depth - 1);
	seen = 1;
}

void flow_catch(go_fn *go, int wrong)
{
	try {
		throws(5);
	} catch (const std::exception &) {
		go(wrong);
	}
}

void flow_unwinding(go_fn *go, int wrong)
{
	try {
		Unwinding u{ go, wrong };
		throws(3);
	} catch (const std::exception &) {
	}
}

void flow_virtual(go_fn *go, int wrong)
{
	Derived d(go);
	Base *volatile b = &d;

	b->run(wrong);
}

void flow_lambda(go_fn *go, int wrong)
{
	std::function<void()> f = [=] { go(wrong); };

	f();
}

} /* namespace */

extern "C" int flow_cxx(const char *name, go_fn *go, int wrong)
{
	if (!strcmp(name, "catch"))
		flow_catch(go, wrong);
	else if (!strcmp(name, "unwinding"))
		flow_unwinding(go, wrong);
	else if (!strcmp(name, "virtual"))
		flow_virtual(go, wrong);
	else if (!strcmp(name, "lambda"))
		flow_lambda(go, wrong);
	else if (!strcmp(name, "cxx-thread"))
		std::thread(go, wrong).join();
	else if (!strcmp(name, "static")) {
		pending = go;
		pending_wrong = wrong;
	} else
		return 0;
	return 1;
}
