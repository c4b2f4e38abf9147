// SPDX-License-Identifier: GPL-2.0
/* The terminal as "flow top" needs it, by ncurses. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "top_screen.h"
#include "top_state.h"

/* Last: they make macros of words like "columns". */
#include <curses.h>
#include <term.h>

enum { CONTROL_L = 12 };

static SCREEN *screen;
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* Before ncurses, which would exit() on these but leaves handlers alone. */
static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = stop };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
}

/* ncurses has its own word for booleans, and so for success. */
static bool can_move_cursor(void)
{
	const char *move = tigetstr("cup");

	return move && move != (const char *)-1;
}

static void set_up_colors(void)
{
	if (!options.color || !has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	init_pair(TINT_GOOD, COLOR_GREEN, -1);
	init_pair(TINT_WARN, COLOR_YELLOW, -1);
	init_pair(TINT_BAD, COLOR_RED, -1);
}

const char *screen_open(void)
{
	const char *term = getenv("TERM");
	int found = 0;
	bool movable;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return "standard input and output are no terminal";
	if (!term || !*term)
		return "TERM is not set";
	if (setupterm(term, STDOUT_FILENO, &found) == ERR)
		return "the terminal named by TERM is not known here";
	movable = can_move_cursor();
	del_curterm(cur_term);
	if (!movable)
		return "the terminal named by TERM cannot place text";
	catch_signals();
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return "the terminal cannot be set up";
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	set_up_colors();
	return NULL;
}

void screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

int screen_rows(void)
{
	return LINES;
}

int screen_columns(void)
{
	return COLS;
}

void screen_begin(void)
{
	erase();
}

static attr_t attributes(enum tint tint)
{
	switch (tint) {
	case TINT_BOLD:
		return A_BOLD;
	case TINT_GOOD:
	case TINT_WARN:
	case TINT_BAD:
		return options.color && has_colors() ?
		       (attr_t)COLOR_PAIR(tint) : A_BOLD;
	default:
		return A_NORMAL;
	}
}

int screen_text(int row, int column, enum tint tint, const char *text)
{
	int length = (int)strlen(text);

	if (row < 0 || row >= LINES || column < 0 || column >= COLS)
		return column + length;
	attron(attributes(tint));
	mvaddnstr(row, column, text, COLS - column);
	attroff(attributes(tint));
	return column + length;
}

void screen_bar(int row, const char *text)
{
	if (row < 0 || row >= LINES)
		return;
	attron(A_REVERSE);
	mvhline(row, 0, ' ', COLS);
	mvaddnstr(row, 0, text, COLS);
	attroff(A_REVERSE);
}

void screen_end(void)
{
	refresh();
}

/* An end of file looks like no key at all. */
static bool has_gone(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return stopped || (poll(&input, 1, 0) > 0 &&
			   (input.revents & (POLLHUP | POLLERR | POLLNVAL)));
}

int screen_key(int ms)
{
	int key;

	timeout(ms);
	key = getch();
	switch (key) {
	case ERR:
		return has_gone() ? SCREEN_GONE : SCREEN_NO_KEY;
	case KEY_UP:
		return TOP_KEY_UP;
	case KEY_DOWN:
		return TOP_KEY_DOWN;
	case KEY_PPAGE:
		return TOP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TOP_KEY_PAGE_DOWN;
	case KEY_HOME:
		return TOP_KEY_HOME;
	case KEY_BACKSPACE:
		return TOP_KEY_BACKSPACE;
	case KEY_ENTER:
		return '\n';
	case CONTROL_L:		/* what others wrote there goes */
		clearok(curscr, TRUE);
		return TOP_KEY_RESIZE;
	case KEY_RESIZE:
		return TOP_KEY_RESIZE;
	}
	return key;
}
