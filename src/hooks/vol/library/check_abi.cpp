// SPDX-License-Identifier: Apache-2.0
// Compiled where HDF5's headers are, and never linked: what abi.hpp says is what they say.
#include "hooks/vol/library/abi.hpp"

#include <H5PLextern.h>
#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLnative.h>
#include <hdf5.h>

#include <type_traits>

namespace tailrace::hooks::vol::abi {
namespace {

#define SAME_PLACE(ours, our_member, theirs, their_member) \
    static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member))
#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs))

SAME_SIZE(Id, hid_t);
SAME_SIZE(Status, herr_t);
SAME_SIZE(Size, hsize_t);
static_assert(kind_file == H5I_FILE && kind_group == H5I_GROUP && kind_datatype == H5I_DATATYPE);
static_assert(kind_dataset == H5I_DATASET && kind_attribute == H5I_ATTR);
static_assert(structure_version == H5VL_VERSION && native_value == H5VL_NATIVE_VALUE);
static_assert(plugin_type_connector == H5PL_TYPE_VOL && level_current == H5VL_GET_CONN_LVL_CURR);
static_assert(default_list == H5P_DEFAULT);

static_assert(space_all == H5S_ALL && space_block == H5S_BLOCK && space_in_list == H5S_PLIST);
static_assert(extent_null == H5S_NULL && select_none == H5S_SEL_NONE);
static_assert(select_points == H5S_SEL_POINTS && select_hyperslabs == H5S_SEL_HYPERSLABS);
static_assert(select_all == H5S_SEL_ALL);
static_assert(layout_compact == H5D_COMPACT && layout_contiguous == H5D_CONTIGUOUS);
static_assert(layout_chunked == H5D_CHUNKED && layout_virtual == H5D_VIRTUAL);
static_assert(fill_undefined == H5D_FILL_VALUE_UNDEFINED);
static_assert(fill_default == H5D_FILL_VALUE_DEFAULT && fill_if_set == H5D_FILL_TIME_IFSET);
static_assert(class_integer == H5T_INTEGER && class_float == H5T_FLOAT);
static_assert(class_string == H5T_STRING && class_bitfield == H5T_BITFIELD);
static_assert(class_opaque == H5T_OPAQUE && class_compound == H5T_COMPOUND);
static_assert(class_reference == H5T_REFERENCE && class_enum == H5T_ENUM);
static_assert(class_vlen == H5T_VLEN && class_array == H5T_ARRAY);

SAME_SIZE(Location, H5VL_loc_params_t);
SAME_PLACE(Location, way, H5VL_loc_params_t, type);
SAME_PLACE(Location, by_name.name, H5VL_loc_params_t, loc_data.loc_by_name.name);
SAME_PLACE(Location, by_index.number, H5VL_loc_params_t, loc_data.loc_by_idx.n);
static_assert(way_self == H5VL_OBJECT_BY_SELF && way_name == H5VL_OBJECT_BY_NAME &&
              way_token == H5VL_OBJECT_BY_TOKEN);

SAME_SIZE(Optional, H5VL_optional_args_t);
SAME_PLACE(Optional, arguments, H5VL_optional_args_t, args);
static_assert(native_chunk_storage_bytes == H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE);
static_assert(native_chunk_at == H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_COORD);
static_assert(native_chunk_read == H5VL_NATIVE_DATASET_CHUNK_READ);
static_assert(native_chunk_write == H5VL_NATIVE_DATASET_CHUNK_WRITE);
static_assert(native_address == H5VL_NATIVE_DATASET_GET_OFFSET);
SAME_PLACE(ChunkWrite, buffer, H5VL_native_dataset_chunk_write_t, buf);
#if H5_VERSION_GE(2, 0, 0)
SAME_PLACE(ChunkWrite, bytes, H5VL_native_dataset_chunk_write_t, size);
#endif
SAME_PLACE(ChunkRead, buffer, H5VL_native_dataset_chunk_read_t, buf);
SAME_PLACE(ChunkStorage, bytes, H5VL_native_dataset_get_chunk_storage_size_t, size);
SAME_PLACE(ChunkAt, bytes, H5VL_native_dataset_get_chunk_info_by_coord_t, size);

SAME_PLACE(FileHandle, handle, H5VL_native_file_get_vfd_handle_t, file_handle);
static_assert(native_file_handle == H5VL_NATIVE_FILE_GET_VFD_HANDLE);
#ifdef H5_HAVE_PARALLEL
static_assert(native_file_get_atomicity == H5VL_NATIVE_FILE_GET_MPI_ATOMICITY);
static_assert(native_file_set_atomicity == H5VL_NATIVE_FILE_SET_MPI_ATOMICITY);
#endif

SAME_PLACE(AttributeGet, bytes, H5VL_attr_get_args_t, args.get_storage_size.data_size);
static_assert(attribute_get_bytes == H5VL_ATTR_GET_STORAGE_SIZE);
static_assert(attribute_delete == H5VL_ATTR_DELETE);
static_assert(attribute_delete_by_index == H5VL_ATTR_DELETE_BY_IDX);
static_assert(attribute_rename == H5VL_ATTR_RENAME);

SAME_PLACE(DatasetGet, id, H5VL_dataset_get_args_t, args.get_space.space_id);
static_assert(dataset_get_access == H5VL_DATASET_GET_DAPL);
static_assert(dataset_get_creation == H5VL_DATASET_GET_DCPL);
static_assert(dataset_get_space == H5VL_DATASET_GET_SPACE);
static_assert(dataset_get_type == H5VL_DATASET_GET_TYPE);
SAME_PLACE(DatasetSpecific, extent, H5VL_dataset_specific_args_t, args.set_extent.size);
static_assert(dataset_set_extent == H5VL_DATASET_SET_EXTENT);
static_assert(dataset_flush == H5VL_DATASET_FLUSH);
static_assert(dataset_refresh == H5VL_DATASET_REFRESH);

SAME_PLACE(FileGetName, object_kind, H5VL_file_get_args_t, args.get_name.type);
SAME_PLACE(FileGetName, buffer_bytes, H5VL_file_get_args_t, args.get_name.buf_size);
SAME_PLACE(FileGetName, buffer, H5VL_file_get_args_t, args.get_name.buf);
SAME_PLACE(FileGetName, name_bytes, H5VL_file_get_args_t, args.get_name.file_name_len);
static_assert(file_get_name == H5VL_FILE_GET_NAME);
SAME_PLACE(FileSpecific, reopen.file, H5VL_file_specific_args_t, args.reopen.file);
SAME_PLACE(FileSpecific, is_accessible.name, H5VL_file_specific_args_t,
           args.is_accessible.filename);
SAME_PLACE(FileSpecific, is_accessible.access, H5VL_file_specific_args_t,
           args.is_accessible.fapl_id);
SAME_PLACE(FileSpecific, is_accessible.accessible, H5VL_file_specific_args_t,
           args.is_accessible.accessible);
SAME_PLACE(FileSpecific, del.name, H5VL_file_specific_args_t, args.del.filename);
SAME_PLACE(FileSpecific, del.access, H5VL_file_specific_args_t, args.del.fapl_id);
static_assert(file_flush == H5VL_FILE_FLUSH && file_reopen == H5VL_FILE_REOPEN);
static_assert(file_is_accessible == H5VL_FILE_IS_ACCESSIBLE && file_delete == H5VL_FILE_DELETE);

SAME_PLACE(GroupSpecific, mount.child, H5VL_group_specific_args_t, args.mount.child_file);
static_assert(group_mount == H5VL_GROUP_MOUNT);
SAME_PLACE(LinkCreate, hard.object, H5VL_link_create_args_t, args.hard.curr_obj);
SAME_PLACE(LinkCreate, hard.location, H5VL_link_create_args_t, args.hard.curr_loc_params);
static_assert(link_create_hard == H5VL_LINK_CREATE_HARD && link_delete == H5VL_LINK_DELETE);
static_assert(link_iterate == H5VL_LINK_ITER && link_hard == H5L_TYPE_HARD);
static_assert(H5_INDEX_NAME == 0 && H5_ITER_NATIVE == 2);
SAME_PLACE(LinkInfo, type, H5L_info2_t, type);
SAME_PLACE(LinkInfo, token, H5L_info2_t, u.token);
SAME_PLACE(LinkSpecific, iterate.recursive, H5VL_link_specific_args_t, args.iterate.recursive);
SAME_PLACE(LinkSpecific, iterate.index, H5VL_link_specific_args_t, args.iterate.idx_type);
SAME_PLACE(LinkSpecific, iterate.order, H5VL_link_specific_args_t, args.iterate.order);
SAME_PLACE(LinkSpecific, iterate.at, H5VL_link_specific_args_t, args.iterate.idx_p);
SAME_PLACE(LinkSpecific, iterate.visit, H5VL_link_specific_args_t, args.iterate.op);
SAME_PLACE(LinkSpecific, iterate.data, H5VL_link_specific_args_t, args.iterate.op_data);

SAME_PLACE(ObjectGetName, buffer_bytes, H5VL_object_get_args_t, args.get_name.buf_size);
SAME_PLACE(ObjectGetName, buffer, H5VL_object_get_args_t, args.get_name.buf);
SAME_PLACE(ObjectGetName, name_bytes, H5VL_object_get_args_t, args.get_name.name_len);
static_assert(object_get_name == H5VL_OBJECT_GET_NAME);
static_assert(sizeof(ObjectInfo) >= sizeof(H5O_info2_t));
SAME_PLACE(ObjectInfo, file_number, H5O_info2_t, fileno);
SAME_PLACE(ObjectInfo, token, H5O_info2_t, token);
SAME_PLACE(ObjectGetInfo, fields, H5VL_object_get_args_t, args.get_info.fields);
SAME_PLACE(ObjectGetInfo, info, H5VL_object_get_args_t, args.get_info.oinfo);
static_assert(object_get_info == H5VL_OBJECT_GET_INFO && object_info_basic == H5O_INFO_BASIC);
static_assert(object_flush == H5VL_OBJECT_FLUSH);
static_assert(object_refresh == H5VL_OBJECT_REFRESH);
static_assert(file_get_intent == H5VL_FILE_GET_INTENT && file_get_access == H5VL_FILE_GET_FAPL);
SAME_PLACE(FileGetAccess, list, H5VL_file_get_args_t, args.get_fapl.fapl_id);

static_assert(sizeof(MetadataCache) >= sizeof(H5AC_cache_config_t));
SAME_PLACE(MetadataCache, trace_file, H5AC_cache_config_t, trace_file_name);
SAME_PLACE(MetadataCache, evictions, H5AC_cache_config_t, evictions_enabled);
SAME_PLACE(MetadataCache, initial_bytes, H5AC_cache_config_t, initial_size);
SAME_PLACE(MetadataCache, most_bytes, H5AC_cache_config_t, max_size);
SAME_PLACE(MetadataCache, least_bytes, H5AC_cache_config_t, min_size);
SAME_PLACE(MetadataCache, grow, H5AC_cache_config_t, incr_mode);
SAME_PLACE(MetadataCache, flash_grow, H5AC_cache_config_t, flash_incr_mode);
SAME_PLACE(MetadataCache, shrink, H5AC_cache_config_t, decr_mode);
static_assert(metadata_cache_version == H5AC__CURR_CACHE_CONFIG_VERSION);
SAME_SIZE(CacheImage, H5AC_cache_image_config_t);
SAME_PLACE(CacheImage, wanted, H5AC_cache_image_config_t, generate_image);
SAME_PLACE(CacheImage, ageout, H5AC_cache_image_config_t, entry_ageout);
static_assert(cache_image_version == H5AC__CURR_CACHE_IMAGE_CONFIG_VERSION);
static_assert(cache_image_no_ageout == H5AC__CACHE_IMAGE__ENTRY_AGEOUT__NONE);

#ifdef H5_HAVE_SUBFILING_VFD
SAME_SIZE(SubfilingConfig, H5FD_subfiling_config_t);
SAME_PLACE(SubfilingConfig, concentrator_access, H5FD_subfiling_config_t, ioc_fapl_id);
SAME_PLACE(SubfilingConfig, shared.stripe_bytes, H5FD_subfiling_config_t, shared_cfg.stripe_size);
static_assert(subfiling_version == H5FD_SUBFILING_CURR_FAPL_VERSION);
#endif

SAME_SIZE(Connector, H5VL_class_t);
SAME_PLACE(Connector, value, H5VL_class_t, value);
SAME_PLACE(Connector, flags, H5VL_class_t, cap_flags);
SAME_PLACE(Connector, info, H5VL_class_t, info_cls);
SAME_PLACE(Connector, wrap, H5VL_class_t, wrap_cls);
SAME_PLACE(Connector, attribute, H5VL_class_t, attr_cls);
SAME_PLACE(Connector, dataset, H5VL_class_t, dataset_cls);
SAME_PLACE(Connector, dataset.write, H5VL_class_t, dataset_cls.write);
SAME_PLACE(Connector, datatype, H5VL_class_t, datatype_cls);
SAME_PLACE(Connector, file, H5VL_class_t, file_cls);
SAME_PLACE(Connector, group, H5VL_class_t, group_cls);
SAME_PLACE(Connector, link, H5VL_class_t, link_cls);
SAME_PLACE(Connector, object, H5VL_class_t, object_cls);
SAME_PLACE(Connector, introspect, H5VL_class_t, introspect_cls);
SAME_PLACE(Connector, request, H5VL_class_t, request_cls);
SAME_PLACE(Connector, blob, H5VL_class_t, blob_cls);
SAME_PLACE(Connector, token, H5VL_class_t, token_cls);
SAME_PLACE(Connector, optional, H5VL_class_t, optional);

/// As many arguments in the library's function as in our word for it.
template <typename Result, typename... Arguments>
constexpr size_t arguments(Result (*)(Arguments...)) {
    return sizeof...(Arguments);
}
using RequestNotify = Status (*)(void*, int);
using AtClose = void (*)(void*);
#define NEEDED(result, name, list)                                   \
    static_assert(arguments(static_cast<result(*) list>(nullptr)) == \
                  arguments(static_cast<decltype(&::name)>(nullptr)));
#ifdef H5_HAVE_PARALLEL
#define OPTIONAL(result, name, list) NEEDED(result, name, list)
#else
#define OPTIONAL(result, name, list)
#endif
#define OLDER(result, name, list)
#include "hooks/vol/library/hdf5_functions.def"

}  // namespace
}  // namespace tailrace::hooks::vol::abi
