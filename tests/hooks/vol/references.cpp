// SPDX-License-Identifier: Apache-2.0
// vol_references FILE alone|together: reads all datasets that "refs" refers to, one of them in a
// group that is reached by a reference itself. "together": metadata is read by all ranks at once.
#include <hdf5.h>
#include <mpi.h>

#include <cstring>
#include <vector>

namespace {

bool read(hid_t dataset) {
    double value = 0;
    const bool good =
        H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0;
    H5Dclose(dataset);
    return good && value == 1;
}

}  // namespace

int main(int count, char** words) {
    MPI_Init(&count, &words);
    if (count < 3) return 2;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    if (std::strcmp(words[2], "together") == 0) H5Pset_all_coll_metadata_ops(access, true);
    const hid_t file = H5Fopen(words[1], H5F_ACC_RDONLY, access);
    const hid_t list = H5Dopen2(file, "refs", H5P_DEFAULT);
    const hid_t space = H5Dget_space(list);
    std::vector<hobj_ref_t> references(static_cast<size_t>(H5Sget_simple_extent_npoints(space)));
    if (H5Dread(list, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.data()) < 0)
        return 1;
    for (hobj_ref_t& one : references) {
        const hid_t found = H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, &one);
        const bool group = H5Iget_type(found) == H5I_GROUP;
        if (!read(group ? H5Dopen2(found, "within", H5P_DEFAULT) : found)) return 1;
        if (group) H5Gclose(found);
    }
    if (!read(H5Dopen2(file, "named", H5P_DEFAULT))) return 1;
    H5Sclose(space);
    H5Dclose(list);
    H5Fclose(file);
    H5Pclose(access);
    MPI_Finalize();
    return 0;
}
