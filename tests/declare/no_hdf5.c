/* SPDX-License-Identifier: Apache-2.0 */
/* A program without HDF5: it is told so, and goes on. */
#include <stdio.h>
#include <tailrace/intent.h>

int main(void) {
    const int code = tailrace_intent_set(1, "{\"reliability\": \"scratch\"}");
    printf("%d %s\n", code, tailrace_intent_error());
    return code == TAILRACE_INTENT_NO_HDF5 ? 0 : 1;
}
