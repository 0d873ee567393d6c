// SPDX-License-Identifier: MIT
#include <curses.h>

#include "tools/common/common.h"
#include "top.h"

static void draw(const struct view *view)
{
	static const char *const orders[ORDERS] = { "NPU time", "queue", "memory", "client" };
	char line[LINE];
	unsigned int i;

	erase();
	for (i = 0; (int)i < LINES - 1 && show_line(view, i, line); i++)
		mvaddnstr((int)i, 0, line, COLS);
	snprintf(line, sizeof(line), "q: end   s: order (%s)", orders[view->order]);
	mvaddnstr(LINES - 1, 0, line, COLS);
	refresh();
}

int screen_run(const char *root, const struct facts *facts, unsigned int delay_ms,
	       unsigned long count)
{
	struct sample was, now;
	struct view view = { .facts = facts, .was = &was, .now = &now };
	unsigned long n = 0;
	int key;

	if (!sample_take(root, &was) || !sample_take(root, &now))
		return 2;
	if (!initscr())
		die(2, "no terminal");
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	timeout((int)delay_ms);
	do {
		draw(&view);
		key = getch();
		if (key == 's')
			view.order = (view.order + 1) % ORDERS;
		if (key != ERR)
			continue;
		sample_free(&was);
		was = now;
		if (!sample_take(root, &now)) {
			endwin();
			return 2;
		}
		n++;
	} while (key != 'q' && key != 'Q' && (!count || n < count));
	endwin();
	sample_free(&was);
	sample_free(&now);
	return 0;
}
