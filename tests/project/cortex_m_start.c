/* SPDX-License-Identifier: Apache-2.0 */
/* The least that a Cortex-M4 needs before main: a stack, its floating-point unit, and data in place. */
#include <stdint.h>
#include <stdlib.h>

extern char data_stored[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];
extern int main(void);
extern void initialise_monitor_handles(void);

/* The C library asks for it at exit. */
void _fini(void);
void _fini(void) {}

void start(void);
void start(void) {
  char *to, *from = data_stored;
  *(volatile uint32_t*)0xE000ED88 |= 0xFu << 20; /* CPACR: coprocessors 10 and 11 */
  for (to = data_begin; to < data_end; ++to) *to = *from++;
  for (to = bss_begin; to < bss_end; ++to) *to = 0;
  initialise_monitor_handles();
  exit(main());
}

__attribute__((section(".vectors"), used)) static const struct {
  void* stack;
  void (*reset)(void);
} vectors = {stack_top, start};
