// SPDX-License-Identifier: Apache-2.0
// Where the rules come from, by letter.
#include <array>

#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

constexpr std::array list{
    Source{"A", "HDF5 headers (H5Ppublic.h, H5FDmpio.h)", ""},
    Source{"B", "Parallel HDF5 performance tuning, The HDF Group",
           "https://support.hdfgroup.org/documentation/hdf5-docs/hdf5_topics/"
           "Parallel-HDF5-Performance-Tuning.pdf"},
    Source{"C", "Parallel HDF5, The HDF Group",
           "https://support.hdfgroup.org/documentation/hdf5-docs/hdf5_topics/ParallelHDF5.html"},
    Source{"D", "H5Pset_alignment, HDF5 reference",
           "https://support.hdfgroup.org/HDF5/doc/RM/H5P/H5Pset_alignment.htm"},
    Source{"E", "Howison et al. 2010, Tuning HDF5 for Lustre",
           "https://escholarship.org/uc/item/46r9d86r"},
    Source{"F", "RFC on collective metadata writes, The HDF Group",
           "https://support.hdfgroup.org/releases/hdf5/documentation/rfc/"
           "RFC-CollectiveMetadataWrites.pdf"},
    Source{"G", "Page buffering, The HDF Group",
           "https://support.hdfgroup.org/archive/support/HDF5/docNewFeatures/"
           "NewFeaturesPageBuffering.html"},
    Source{"H", "Chunking in HDF5, The HDF Group",
           "https://support.hdfgroup.org/documentation/hdf5/latest/hdf5_chunk_issues.html"},
    Source{"I", "Technical note on compressed datasets, The HDF Group",
           "https://support.hdfgroup.org/HDF5/doc/TechNotes/"
           "TechNote-HDF5-ImprovingIOPerformanceCompressedDatasets.pdf"},
    Source{"J", "RFC on chunk cache functions, The HDF Group",
           "https://support.hdfgroup.org/archive/support/pubs/rfcs/RFC_chunk_cache_functions.pdf"},
    Source{"K", "Parallel compression, HDF5 users group 2021",
           "https://www.hdfgroup.org/wp-content/uploads/2021/10/HUG_compression_21a.pdf"},
    Source{"L", "Tang, notes on HDF5 metadata settings",
           "https://gist.github.com/houjun/fb6179af24c2f58e8ea4ad2191f7ca90"},
    Source{"N", "ROMIO user's guide", "https://ftp.mcs.anl.gov/pub/romio/users-guide/node6.html"},
    Source{"P", "PnetCDF, its hints",
           "https://parallel-netcdf.github.io/wiki/HintsForPnetcdf.html"},
    Source{"Q", "NERSC, Lustre striping", "https://docs.nersc.gov/performance/io/lustre/"},
    Source{"R", "Byna et al. 2018, subfiling", "https://www.osti.gov/biblio/1398484"},
    Source{"S", "Drishti, its triggers", "https://github.com/hpc-io/drishti-io"},
    Source{"T", "Performance questions, The HDF Group",
           "https://support.hdfgroup.org/HDF5/faq/perfissues.html"},
    Source{"U", "Bartz et al. 2015, alignment on parallel file systems",
           "https://link.springer.com/chapter/10.1007/978-3-319-20119-1_20"},
    Source{"V", "Zender 2016, bit grooming: lossy and lossless compression compared",
           "https://doi.org/10.5194/gmd-9-3199-2016"},
    Source{"W", "Bauer et al. 2016, in situ methods on high performance computing platforms",
           "https://doi.org/10.1111/cgf.12930"},
    Source{"X", "Dorier et al. 2011, Damaris: ranks of a node that write for the others",
           "https://inria.hal.science/inria-00614597"},
    Source{"Y", "Open MPI, its two implementations of MPI-IO",
           "https://docs.open-mpi.org/en/v5.0.8/tuning-apps/mpi-io/index.html"},
};

}  // namespace

std::span<const Source> sources() { return list; }

std::string source_titles(std::string_view letters) {
    std::string titles;
    for (const Source& source : list)
        for (std::size_t at = 0; at < letters.size(); at += 3)
            if (letters[at] == source.letter.front())
                titles += (titles.empty() ? "" : "; ") + word(source.title);
    return titles;
}

}  // namespace tailrace::intent::rules
