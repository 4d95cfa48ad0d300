/* SPDX-License-Identifier: GPL-2.0-or-later
 * C++ objects that hold blocks: members of bases, containers, smart pointers, static members. tests/cli/leaks_hold.bats says which chains must
 * be found.
 */
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "leak.h"

namespace shop {

struct Base {
	virtual ~Base() {}
	long a = 0;
};

struct Part {
	Part *next = nullptr;
};

struct Item : Base {
	Part *part = nullptr;
	std::string name;
};

struct Store {
	std::vector<Item *> items;
	std::map<int, Part *> by_number;
	std::unique_ptr<Part> unique;
	static Store *instance;
};

Store *Store::instance;
Store store;

SITE Part *make_part() { return new Part; }
SITE Part *make_mapped() { return new Part; }
SITE Part *make_unique_part() { return new Part; }
SITE Item *make_item() { return new Item; }
SITE Store *make_store() { return new Store; }

}

using namespace shop;

SITE static void cases()
{
	for (int i = 0; i < 5; i++)
		store.items.push_back(make_item());
	store.items[3]->part = make_part();
	store.items[3]->name = std::string(100, 'x');
	store.by_number[7] = make_mapped();
	store.unique.reset(make_unique_part());
	Store::instance = make_store();
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroupper");	/* leaves of copies are pointers, too */
}
