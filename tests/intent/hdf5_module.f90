! SPDX-License-Identifier: Apache-2.0
! The part of HDF5's Fortran module that `tailrace advise --as fortran` uses, with its interfaces, for
! a parallel HDF5 that was built without Fortran: each calls the C function.
module hdf5
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: hid_t = c_int64_t, hsize_t = c_int64_t, size_t = c_size_t
  integer, parameter :: H5F_FSPACE_STRATEGY_PAGE_F = 1
  integer, parameter :: H5F_LIBVER_EARLIEST_F = 0, H5F_LIBVER_V18_F = 1, H5F_LIBVER_V110_F = 2
  integer, parameter :: H5F_LIBVER_V112_F = 3, H5F_LIBVER_V114_F = 4, H5F_LIBVER_LATEST_F = 5
  integer, parameter :: H5D_COMPACT_F = 0, H5D_CHUNKED_F = 2, H5D_FILL_TIME_NEVER_F = 1
  integer, parameter :: H5D_ALLOC_TIME_EARLY_F = 1, H5D_ALLOC_TIME_LATE_F = 2
  integer, parameter :: H5D_ALLOC_TIME_INCR_F = 3
  integer(size_t), parameter :: H5D_CHUNK_CACHE_NSLOTS_DFLT_F = -1
  integer(size_t), parameter :: H5D_CHUNK_CACHE_NBYTES_DFLT_F = -1
  integer, parameter :: H5FD_MPIO_INDEPENDENT_F = 0, H5FD_MPIO_COLLECTIVE_F = 1
  abstract interface
    integer(c_int) function call_i(list, number) bind(c)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: list
      integer(c_int), value :: number
    end function
    integer(c_int) function call_b(list, flag) bind(c)
      import :: c_int, c_int64_t, c_bool
      integer(c_int64_t), value :: list
      logical(c_bool), value :: flag
    end function
    integer(c_int) function call_h(list, number) bind(c)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: list, number
    end function
    integer(c_int) function call_s(list, bytes) bind(c)
      import :: c_int, c_int64_t, c_size_t
      integer(c_int64_t), value :: list
      integer(c_size_t), value :: bytes
    end function
  end interface
  procedure(call_h), bind(c, name="H5Pset_file_space_page_size") :: c_page
  procedure(call_h), bind(c, name="H5Pset_meta_block_size") :: c_meta
  procedure(call_h), bind(c, name="H5Pset_small_data_block_size") :: c_small
  procedure(call_s), bind(c, name="H5Pset_sieve_buf_size") :: c_sieve
  procedure(call_b), bind(c, name="H5Pset_coll_metadata_write") :: c_writes
  procedure(call_b), bind(c, name="H5Pset_all_coll_metadata_ops") :: c_reads
  procedure(call_i), bind(c, name="H5Pset_layout") :: c_layout
  procedure(call_i), bind(c, name="H5Pset_fill_time") :: c_fill
  procedure(call_i), bind(c, name="H5Pset_alloc_time") :: c_alloc
  procedure(call_i), bind(c, name="H5Pset_deflate") :: c_deflate
  procedure(call_i), bind(c, name="H5Pset_dxpl_mpio") :: c_mode
  interface
    integer(c_int) function c_strategy(list, strategy, persist, threshold) &
        bind(c, name="H5Pset_file_space_strategy")
      import :: c_int, c_int64_t, c_bool
      integer(c_int64_t), value :: list, threshold
      integer(c_int), value :: strategy
      logical(c_bool), value :: persist
    end function
    integer(c_int) function c_alignment(list, threshold, alignment) &
        bind(c, name="H5Pset_alignment")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: list, threshold, alignment
    end function
    integer(c_int) function c_bounds(list, low, high) bind(c, name="H5Pset_libver_bounds")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: list
      integer(c_int), value :: low, high
    end function
    integer(c_int) function c_locking(list, lock, ignore) bind(c, name="H5Pset_file_locking")
      import :: c_int, c_int64_t, c_bool
      integer(c_int64_t), value :: list
      logical(c_bool), value :: lock, ignore
    end function
    integer(c_int) function c_core(list, increment, store) bind(c, name="H5Pset_fapl_core")
      import :: c_int, c_int64_t, c_size_t, c_bool
      integer(c_int64_t), value :: list
      integer(c_size_t), value :: increment
      logical(c_bool), value :: store
    end function
    integer(c_int) function c_chunk(list, rank, dims) bind(c, name="H5Pset_chunk")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: list
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: dims(*)
    end function
    integer(c_int) function c_shuffle(list) bind(c, name="H5Pset_shuffle")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: list
    end function
    integer(c_int) function c_cache(list, slots, bytes, w0) bind(c, name="H5Pset_chunk_cache")
      import :: c_int, c_int64_t, c_size_t, c_double
      integer(c_int64_t), value :: list
      integer(c_size_t), value :: slots, bytes
      real(c_double), value :: w0
    end function
    integer(c_int) function c_buffer(list, bytes, one, two) bind(c, name="H5Pset_buffer")
      import :: c_int, c_int64_t, c_size_t, c_ptr
      integer(c_int64_t), value :: list
      integer(c_size_t), value :: bytes
      type(c_ptr), value :: one, two
    end function
  end interface
contains
  subroutine h5pset_file_space_strategy_f(list, strategy, persist, threshold, error)
    integer(hid_t), intent(in) :: list
    integer, intent(in) :: strategy
    logical, intent(in) :: persist
    integer(hsize_t), intent(in) :: threshold
    integer, intent(out) :: error
    error = c_strategy(list, strategy, logical(persist, c_bool), threshold)
  end subroutine
  subroutine h5pset_file_space_page_size_f(list, bytes, error)
    integer(hid_t), intent(in) :: list
    integer(hsize_t), intent(in) :: bytes
    integer, intent(out) :: error
    error = c_page(list, bytes)
  end subroutine
  subroutine h5pset_alignment_f(list, threshold, alignment, error)
    integer(hid_t), intent(in) :: list
    integer(hsize_t), intent(in) :: threshold, alignment
    integer, intent(out) :: error
    error = c_alignment(list, threshold, alignment)
  end subroutine
  subroutine h5pset_meta_block_size_f(list, bytes, error)
    integer(hid_t), intent(in) :: list
    integer(hsize_t), intent(in) :: bytes
    integer, intent(out) :: error
    error = c_meta(list, bytes)
  end subroutine
  subroutine h5pset_small_data_block_size_f(list, bytes, error)
    integer(hid_t), intent(in) :: list
    integer(hsize_t), intent(in) :: bytes
    integer, intent(out) :: error
    error = c_small(list, bytes)
  end subroutine
  subroutine h5pset_sieve_buf_size_f(list, bytes, error)
    integer(hid_t), intent(in) :: list
    integer(size_t), intent(in) :: bytes
    integer, intent(out) :: error
    error = c_sieve(list, bytes)
  end subroutine
  subroutine h5pset_coll_metadata_write_f(list, flag, error)
    integer(hid_t), intent(in) :: list
    logical, intent(in) :: flag
    integer, intent(out) :: error
    error = c_writes(list, logical(flag, c_bool))
  end subroutine
  subroutine h5pset_all_coll_metadata_ops_f(list, flag, error)
    integer(hid_t), intent(in) :: list
    logical, intent(in) :: flag
    integer, intent(out) :: error
    error = c_reads(list, logical(flag, c_bool))
  end subroutine
  subroutine h5pset_libver_bounds_f(list, low, high, error)
    integer(hid_t), intent(in) :: list
    integer, intent(in) :: low, high
    integer, intent(out) :: error
    error = c_bounds(list, low, high)
  end subroutine
  subroutine h5pset_file_locking_f(list, lock, ignore, error)
    integer(hid_t), intent(in) :: list
    logical, intent(in) :: lock, ignore
    integer, intent(out) :: error
    error = c_locking(list, logical(lock, c_bool), logical(ignore, c_bool))
  end subroutine
  subroutine h5pset_fapl_core_f(list, increment, store, error)
    integer(hid_t), intent(in) :: list
    integer(size_t), intent(in) :: increment
    logical, intent(in) :: store
    integer, intent(out) :: error
    error = c_core(list, increment, logical(store, c_bool))
  end subroutine
  subroutine h5pset_layout_f(list, layout, error)
    integer(hid_t), intent(in) :: list
    integer, intent(in) :: layout
    integer, intent(out) :: error
    error = c_layout(list, layout)
  end subroutine
  ! Turns the extents round, as HDF5's own does.
  subroutine h5pset_chunk_f(list, rank, dims, error)
    integer(hid_t), intent(in) :: list
    integer, intent(in) :: rank
    integer(hsize_t), intent(in) :: dims(rank)
    integer, intent(out) :: error
    error = c_chunk(list, rank, dims(rank:1:-1))
  end subroutine
  subroutine h5pset_fill_time_f(list, time, error)
    integer(hid_t), intent(in) :: list
    integer, intent(in) :: time
    integer, intent(out) :: error
    error = c_fill(list, time)
  end subroutine
  subroutine h5pset_alloc_time_f(list, time, error)
    integer(hid_t), intent(in) :: list
    integer, intent(in) :: time
    integer, intent(out) :: error
    error = c_alloc(list, time)
  end subroutine
  subroutine h5pset_shuffle_f(list, error)
    integer(hid_t), intent(in) :: list
    integer, intent(out) :: error
    error = c_shuffle(list)
  end subroutine
  subroutine h5pset_deflate_f(list, level, error)
    integer(hid_t), intent(in) :: list
    integer, intent(in) :: level
    integer, intent(out) :: error
    error = c_deflate(list, level)
  end subroutine
  subroutine h5pset_chunk_cache_f(list, slots, bytes, w0, error)
    integer(hid_t), intent(in) :: list
    integer(size_t), intent(in) :: slots, bytes
    real, intent(in) :: w0
    integer, intent(out) :: error
    error = c_cache(list, slots, bytes, real(w0, c_double))
  end subroutine
  subroutine h5pset_dxpl_mpio_f(list, mode, error)
    integer(hid_t), intent(in) :: list
    integer, intent(in) :: mode
    integer, intent(out) :: error
    error = c_mode(list, mode)
  end subroutine
  subroutine h5pset_buffer_f(list, bytes, error)
    integer(hid_t), intent(in) :: list
    integer(hsize_t), intent(in) :: bytes
    integer, intent(out) :: error
    error = c_buffer(list, int(bytes, c_size_t), c_null_ptr, c_null_ptr)
  end subroutine
end module
