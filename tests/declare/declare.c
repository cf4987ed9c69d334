/* SPDX-License-Identifier: Apache-2.0 */
/* Declares intents in C99. Every answer is printed; the test knows them. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <tailrace/intent.h>

static void report(const char* what, int code) {
    printf("%s: %d %s\n", what, code, code != 0 ? tailrace_intent_error() : "");
}

static void show(const char* what, hid_t list) {
    char json[4097];
    size_t needed = 0;
    const int code = tailrace_intent_get(list, json, sizeof json, &needed);
    printf("%s: %d %s %d\n", what, code, json, needed == strlen(json) + 1);
}

/* One dataset, by lists that declare. */
static int write_file(const char* name) {
    const hsize_t extent = 100;
    double values[100] = {0};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    report("set", tailrace_intent_set(access,
                                      "{\"reliability\": \"recomputable\", \"datasets\": "
                                      "{\"/o*\": {\"order\": \"random\"}}}"));
    report("replace", tailrace_intent_set(access,
                                          " { \"type\":\"write_only\",\n \"reliability\": "
                                          "\"scratch\", \"size_bytes\": 800}"));
    show("get", access);
    report("dcpl", tailrace_intent_set(creation, "{\"full_coverage\": true, \"reuse\": \"once\"}"));
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(1, &extent, NULL);
    hid_t data =
        H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    const int written = H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    const int read = H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(data);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(creation);
    H5Pclose(access);
    printf("written: %d %d\n", written, read);
    return written < 0 || read < 0;
}

/* The text lives in the list: copied, compared and freed with it. */
static void lists(void) {
    hid_t one = H5Pcreate(H5P_FILE_ACCESS);
    hid_t plain = H5Pcopy(one);
    tailrace_intent_set(one, "{\"append\": true}");
    hid_t copy = H5Pcopy(one);
    printf("equal: %d %d\n", H5Pequal(one, copy), H5Pequal(one, plain));
    H5Pclose(one);
    show("copy", copy);
    show("plain", plain);
    report("clear", tailrace_intent_clear(copy));
    report("clear again", tailrace_intent_clear(copy));
    show("cleared", copy);
    size_t needed = 0;
    char small[8] = "before";
    tailrace_intent_set(copy, "{\"append\": \"no\"}");
    report("small", tailrace_intent_get(copy, small, sizeof small, &needed));
    printf("small: %s %d\n", small, (int)needed);
    H5Pclose(copy);
    H5Pclose(plain);
}

static void bad_input(void) {
    char long_text[8192];
    memset(long_text, ' ', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    memcpy(long_text, "{}", 2);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    tailrace_intent_set(access, "{\"append\": \"no\"}");
    const char* const texts[] = {
        "",
        "scratch",
        "[]",
        "{\"reliabilty\": \"scratch\"}",
        "{\"reliability\": \"scrach\"}",
        "{\"reliability\": 3}",
        "{\"size_bytes\": -1}",
        "{\"full_coverage\": true}",
        "{\"datasets\": {\"/x\": {\"metadata_dominated\": true}}}",
        "{\"datasets\": {\"\": {}}}",
        "{\"type\": \"write_only\"",
        long_text,
    };
    for (size_t number = 0; number < sizeof texts / sizeof *texts; ++number)
        report("bad", tailrace_intent_set(access, texts[number]));
    report("null", tailrace_intent_set(access, NULL));
    report("datasets on a dataset", tailrace_intent_set(creation, "{\"datasets\": {}}"));
    report("transfer", tailrace_intent_set(transfer, "{}"));
    report("default", tailrace_intent_set(H5P_DEFAULT, "{}"));
    report("default of files", tailrace_intent_set(H5P_FILE_ACCESS_DEFAULT, "{}"));
    H5Pclose(transfer);
    report("closed", tailrace_intent_set(transfer, "{}"));
    report("no list", tailrace_intent_set(H5T_NATIVE_INT, "{}"));
    report("token", tailrace_intent_pop(12345));
    uint64_t token = 0;
    report("no files", tailrace_intent_push("{\"file\": {}}", &token));
    show("unchanged", access);
    H5Pclose(access);
    H5Pclose(creation);
}

/* By pattern: pushed, nested, and taken back in another order. */
static void patterns(void) {
    char json[4097] = "";
    uint64_t outer = 0;
    uint64_t inner = 0;
    report("outer", tailrace_intent_push("{\"files\": {\"*.h5\": {\"reliability\": \"scratch\", "
                                         "\"order\": \"random\"}}}",
                                         &outer));
    report("inner",
           tailrace_intent_push("{\"files\": {\"b/x.h5\": {\"order\": \"sequential\"}}}", &inner));
    tailrace_intent_declared_as("/a/b/x.h5", "/a/b/x.h5", json, sizeof json);
    printf("both: %s\n", json);
    tailrace_intent_declared_as("/b/c/x.h5", "/b/c/x.h5", json, sizeof json);
    printf("one: %s\n", json);
    printf("none: %d\n", (int)tailrace_intent_declared_as("/a/x.nc", "/a/x.nc", json, sizeof json));
    report("pop", tailrace_intent_pop(outer));
    tailrace_intent_declared_as("/a/b/x.h5", "/a/b/x.h5", json, sizeof json);
    printf("left: %s\n", json);
    report("pop", tailrace_intent_pop(inner));
    report("pop again", tailrace_intent_pop(inner));
}

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    if (strcmp(argv[1], "lists") == 0) lists();
    if (strcmp(argv[1], "bad") == 0) bad_input();
    if (strcmp(argv[1], "patterns") == 0) patterns();
    return strcmp(argv[1], "write") == 0 ? write_file(argv[2]) : 0;
}
