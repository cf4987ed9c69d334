! SPDX-License-Identifier: Apache-2.0
!> The I/O server in Fortran (tailrace/server.h tells of each call). Compile it with the program and
!! link with -ltailrace_server.
!!
!!     type(tailrace_server_t) :: server
!!     call server%start(MPI_COMM_WORLD, is_model)   ! of mpi_f08: MPI_COMM_WORLD%MPI_VAL
!!     if (is_model) then
!!       ...metadata, collections...
!!       do step = 1, steps
!!         call server%put(id, 'T', field, start=[1, first_row])
!!         call server%end_step(id, time=hours)
!!       end do
!!       call server%finalize()
!!     end if
!!     call server%free()
!!
!! Dimensions, starts and counts have the order of Fortran, the fastest first; starts and records
!! count from 1. Each call has the optional arguments stat (0, or a number below) and errmsg;
!! without stat the program stops with the text.
module tailrace_server
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_int, &
    c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit, int16, int32, int64, int8, real32, real64
  implicit none
  private
  public :: tailrace_metadata_t, tailrace_server_t

  integer, parameter, public :: tailrace_ok = 0, tailrace_failed = 1, tailrace_invalid = 2, &
    tailrace_unsupported = 4
  integer(c_int), parameter, public :: tailrace_int8 = 0, tailrace_int16 = 1, tailrace_int32 = 2, &
    tailrace_int64 = 3, tailrace_real32 = 4, tailrace_real64 = 5, &
    tailrace_char = 6
  integer, parameter, public :: tailrace_unlimited = 0

  !> What a file holds; at first nothing.
  type :: tailrace_metadata_t
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: add_dimension
    procedure :: add_variable
    procedure :: remove_variable
    procedure, private :: set_attribute_one, set_attribute_list
    generic :: set_attribute => set_attribute_one, set_attribute_list
    procedure :: remove_attribute
    procedure :: set_fill
    procedure :: set_constant
    procedure :: set_storage
    procedure :: free => free_metadata
  end type tailrace_metadata_t

  !> The I/O server, as a rank has it.
  type :: tailrace_server_t
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: start => start_server
    procedure :: comm => server_comm
    procedure :: add_collection
    procedure :: metadata => collection_metadata
    procedure :: set_date
    procedure, private :: put_int8, put_int16, put_int32, put_int64, put_real32, put_real64, &
      put_char
    generic :: put => put_int8, put_int16, put_int32, put_int64, put_real32, put_real64, put_char
    procedure, private :: same_int8, same_int16, same_int32, same_int64, same_real32, &
      same_real64, same_char
    generic :: put_replicated => same_int8, same_int16, same_int32, same_int64, same_real32, &
      same_real64, same_char
    procedure :: end_step
    procedure :: close_file
    procedure :: flush => flush_server
    procedure :: status => server_status
    procedure :: finalize => finalize_server
    procedure :: free => free_server
  end type tailrace_server_t

  character(len=:), allocatable :: refusal ! by this module; other texts are the library's

  include 'tailrace_server_c.inc'

contains

  !> Adds a dimension.
  !! @param length  integer(int32) or integer(int64); tailrace_unlimited: it grows with each record
  subroutine add_dimension(self, name, length, stat, errmsg)
    class(tailrace_metadata_t), intent(inout) :: self
    character(len=*), intent(in) :: name
    class(*), intent(in) :: length
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: code

    call make(self)
    select type (length)
    type is (integer(int32))
      code = c_add_dimension(self%handle, c(name), int(length, c_int64_t))
    type is (integer(int64))
      code = c_add_dimension(self%handle, c(name), length)
    class default
      code = refuse('the length', 'dimension '//name, 'must be an integer of 32 or 64 bits')
    end select
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine add_dimension

  !> Adds a variable, or replaces the one of this name.
  !! @param kind        tailrace_real32 and so on
  !! @param dimensions  their names, the fastest first, as 'lon,lat,time'; absent: one number
  subroutine add_variable(self, name, kind, dimensions, stat, errmsg)
    class(tailrace_metadata_t), intent(inout) :: self
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: kind
    character(len=*), intent(in), optional :: dimensions
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    character(kind=c_char), allocatable, target :: bytes(:, :)
    type(c_ptr), allocatable :: at(:)
    integer(c_int) :: code

    call make(self)
    if (present(dimensions)) then
      call to_c(split(dimensions), bytes, at)
    else
      allocate (at(0))
    end if
    code = c_add_variable(self%handle, c(name), kind, size(at, kind=c_int), at(size(at):1:-1))
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine add_variable

  !> Takes a variable out.
  subroutine remove_variable(self, name, stat, errmsg)
    class(tailrace_metadata_t), intent(inout) :: self
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: code

    call make(self)
    code = c_remove_variable(self%handle, c(name))
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine remove_variable

  !> Adds an attribute, or gives it another value.
  !! @param value     text, or a number of one of the six types
  !! @param variable  absent: an attribute of the file
  subroutine set_attribute_one(self, name, value, variable, stat, errmsg)
    class(tailrace_metadata_t), intent(inout) :: self
    character(len=*), intent(in) :: name
    class(*), intent(in) :: value
    character(len=*), intent(in), optional :: variable
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    character(kind=c_char), allocatable :: bytes(:)
    integer(c_int) :: kind, code

    call make(self)
    select type (value)
    type is (character(len=*))
      code = c_set_text(self%handle, c(variable), c(name), c(value))
    class default
      call to_bytes_one('attribute '//name, value, kind, bytes)
      code = c_set_numbers(self%handle, c(variable), c(name), kind, 1_c_size_t, bytes)
    end select
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine set_attribute_one

  subroutine set_attribute_list(self, name, values, variable, stat, errmsg)
    class(tailrace_metadata_t), intent(inout) :: self
    character(len=*), intent(in) :: name
    class(*), intent(in) :: values(:)
    character(len=*), intent(in), optional :: variable
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    character(kind=c_char), allocatable :: bytes(:)
    integer(c_int) :: kind, code

    call make(self)
    call to_bytes_list('attribute '//name, values, kind, bytes)
    if (kind == tailrace_char) then
      refusal = no_number('attribute '//name)
      kind = -1
    end if
    code = c_set_numbers(self%handle, c(variable), c(name), kind, &
                         size(values, kind=c_size_t), bytes)
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine set_attribute_list

  !> Takes an attribute out.
  !! @param variable  absent: an attribute of the file
  subroutine remove_attribute(self, name, variable, stat, errmsg)
    class(tailrace_metadata_t), intent(inout) :: self
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: variable
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: code

    call make(self)
    code = c_remove_attribute(self%handle, c(variable), c(name))
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine remove_attribute

  !> The value of elements that nobody puts.
  !! @param value  a number of the type of the variable, or one character
  subroutine set_fill(self, variable, value, stat, errmsg)
    class(tailrace_metadata_t), intent(inout) :: self
    character(len=*), intent(in) :: variable
    class(*), intent(in) :: value
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    character(kind=c_char), allocatable :: bytes(:)
    integer(c_int) :: kind, code

    call make(self)
    call to_bytes_one('variable '//variable, value, kind, bytes)
    code = c_set_fill(self%handle, c(variable), kind, bytes)
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine set_fill

  !> All elements of a variable without records, such as a coordinate: no put is needed.
  !! @param values  all of them, of the type of the variable; of a matrix: [matrix]; of characters
  !!                also texts of one length, which is the fastest dimension
  subroutine set_constant(self, variable, values, stat, errmsg)
    class(tailrace_metadata_t), intent(inout) :: self
    character(len=*), intent(in) :: variable
    class(*), intent(in) :: values(:)
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    character(kind=c_char), allocatable :: bytes(:)
    integer(c_int) :: kind, code

    call make(self)
    call to_bytes_list('variable '//variable, values, kind, bytes)
    code = c_set_constant(self%handle, c(variable), kind, &
                          merge(size(bytes, kind=c_size_t), size(values, kind=c_size_t), &
                                kind == tailrace_char), bytes)
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine set_constant

  !> How it is stored.
  !! @param storage  as in server.h; the extents of chunks have the order of the file
  subroutine set_storage(self, variable, storage, stat, errmsg)
    class(tailrace_metadata_t), intent(inout) :: self
    character(len=*), intent(in) :: variable, storage
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: code

    call make(self)
    code = c_set_storage(self%handle, c(variable), c(storage))
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine set_storage

  !> Not those of a collection.
  subroutine free_metadata(self)
    class(tailrace_metadata_t), intent(inout) :: self

    call c_free_metadata(self%handle)
    self%handle = c_null_ptr
  end subroutine free_metadata

  !> Shares out the ranks of a communicator and starts, with options from the command line. On a rank
  !! that serves it returns when the model has ended.  [collective]
  !! @param comm  a handle; of mpi_f08 its component MPI_VAL
  subroutine start_server(self, comm, is_model, stat, errmsg)
    class(tailrace_server_t), intent(out) :: self
    integer, intent(in) :: comm
    logical, intent(out) :: is_model
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    character(kind=c_char), allocatable, target :: bytes(:, :)
    type(c_ptr), allocatable :: at(:)
    integer :: i, length, longest
    integer(c_int) :: code, model

    longest = 0
    do i = 0, command_argument_count()
      call get_command_argument(i, length=length)
      longest = max(longest, length)
    end do
    block
      character(len=longest) :: words(0:command_argument_count())

      do i = 0, command_argument_count()
        call get_command_argument(i, words(i))
      end do
      call to_c(words, bytes, at)
    end block
    model = 0
    code = c_start(int(comm, c_int), size(at, kind=c_int), at, self%handle, model)
    is_model = model /= 0
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine start_server

  !> The ranks of the model.  [local]
  subroutine server_comm(self, comm, stat, errmsg)
    class(tailrace_server_t), intent(in) :: self
    integer, intent(out) :: comm
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: handle, code

    handle = 0
    code = c_comm(self%handle, handle)
    comm = int(handle)
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine server_comm

  !> A series of files with the same content.  [collective]
  !! @param options  as in server.h
  subroutine add_collection(self, name, metadata, id, options, stat, errmsg)
    class(tailrace_server_t), intent(in) :: self
    character(len=*), intent(in) :: name
    type(tailrace_metadata_t), intent(in) :: metadata
    integer, intent(out) :: id
    character(len=*), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int64_t) :: number
    integer(c_int) :: code

    number = -1
    code = c_add_collection(self%handle, c(name), metadata%handle, c(options), number)
    id = int(number)
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine add_collection

  !> Those of a collection, to edit them. They belong to the server: no need to free them.
  subroutine collection_metadata(self, id, metadata, stat, errmsg)
    class(tailrace_server_t), intent(in) :: self
    integer, intent(in) :: id
    type(tailrace_metadata_t), intent(out) :: metadata
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: code

    code = c_metadata(self%handle, int(id, c_int64_t), metadata%handle)
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine collection_metadata

  !> Names the file by the collection's template.  [local, the same on all ranks]
  subroutine set_date(self, id, year, month, day, hour, minute, second, stat, errmsg)
    class(tailrace_server_t), intent(in) :: self
    integer, intent(in) :: id, year, month, day
    integer, intent(in), optional :: hour, minute, second
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: code

    code = c_set_date(self%handle, int(id, c_int64_t), int(year, c_int64_t), int(month, c_int), &
                      int(day, c_int), or_zero(hour), or_zero(minute), or_zero(second))
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine set_date

  !> A block of a variable.  [collective]
  !! @param array   of any rank, also a part of an array; of no elements: this rank has nothing
  !! @param start   from 1, integer(int32) or integer(int64); absent: 1
  !! @param count   absent: the shape of the array, and then 1
  !! @param record  from 1; absent: the present one
  !! @param file    absent: that of the date, or the one that is open
  subroutine put_int8(self, id, variable, array, start, count, record, file, stat, errmsg)
    integer(int8), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_int8
    logical, parameter :: replicated = .false.
    include 'tailrace_server_put.inc'
  end subroutine put_int8

  subroutine put_int16(self, id, variable, array, start, count, record, file, stat, errmsg)
    integer(int16), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_int16
    logical, parameter :: replicated = .false.
    include 'tailrace_server_put.inc'
  end subroutine put_int16

  subroutine put_int32(self, id, variable, array, start, count, record, file, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_int32
    logical, parameter :: replicated = .false.
    include 'tailrace_server_put.inc'
  end subroutine put_int32

  subroutine put_int64(self, id, variable, array, start, count, record, file, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_int64
    logical, parameter :: replicated = .false.
    include 'tailrace_server_put.inc'
  end subroutine put_int64

  subroutine put_real32(self, id, variable, array, start, count, record, file, stat, errmsg)
    real(real32), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_real32
    logical, parameter :: replicated = .false.
    include 'tailrace_server_put.inc'
  end subroutine put_real32

  subroutine put_real64(self, id, variable, array, start, count, record, file, stat, errmsg)
    real(real64), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_real64
    logical, parameter :: replicated = .false.
    include 'tailrace_server_put.inc'
  end subroutine put_real64

  !> Of characters: an array of single ones, as transfer(name, ['x']) makes it of a text.
  subroutine put_char(self, id, variable, array, start, count, record, file, stat, errmsg)
    character(kind=c_char), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_char
    logical, parameter :: replicated = .false.
    include 'tailrace_server_put.inc'
  end subroutine put_char

  !> The same, if all ranks have the same array: one copy travels.  [collective]
  subroutine same_int8(self, id, variable, array, start, count, record, file, stat, errmsg)
    integer(int8), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_int8
    logical, parameter :: replicated = .true.
    include 'tailrace_server_put.inc'
  end subroutine same_int8

  subroutine same_int16(self, id, variable, array, start, count, record, file, stat, errmsg)
    integer(int16), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_int16
    logical, parameter :: replicated = .true.
    include 'tailrace_server_put.inc'
  end subroutine same_int16

  subroutine same_int32(self, id, variable, array, start, count, record, file, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_int32
    logical, parameter :: replicated = .true.
    include 'tailrace_server_put.inc'
  end subroutine same_int32

  subroutine same_int64(self, id, variable, array, start, count, record, file, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_int64
    logical, parameter :: replicated = .true.
    include 'tailrace_server_put.inc'
  end subroutine same_int64

  subroutine same_real32(self, id, variable, array, start, count, record, file, stat, errmsg)
    real(real32), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_real32
    logical, parameter :: replicated = .true.
    include 'tailrace_server_put.inc'
  end subroutine same_real32

  subroutine same_real64(self, id, variable, array, start, count, record, file, stat, errmsg)
    real(real64), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_real64
    logical, parameter :: replicated = .true.
    include 'tailrace_server_put.inc'
  end subroutine same_real64

  subroutine same_char(self, id, variable, array, start, count, record, file, stat, errmsg)
    character(kind=c_char), intent(in), contiguous, target :: array(..)
    integer(c_int), parameter :: kind = tailrace_char
    logical, parameter :: replicated = .true.
    include 'tailrace_server_put.inc'
  end subroutine same_char

  function put_block(self, id, variable, kind, address, extents, start, count, record, file, &
                     replicated) result(code)
    class(tailrace_server_t), intent(in) :: self
    integer, intent(in) :: id
    character(len=*), intent(in) :: variable
    integer(c_int), intent(in) :: kind
    type(c_ptr), intent(in) :: address
    integer(int64), intent(in) :: extents(:)
    class(*), intent(in), optional :: start(:), count(:)
    integer, intent(in), optional :: record
    character(len=*), intent(in), optional :: file
    logical, intent(in) :: replicated
    integer(c_int) :: code
    integer(int64), allocatable :: from(:), counts(:)
    integer(int64) :: at
    integer :: rank

    rank = size(extents)
    if (present(start)) rank = max(rank, size(start))
    if (present(count)) rank = max(rank, size(count))
    allocate (from(rank), counts(rank))
    from = 1
    counts = 1
    if (present(start)) from(:size(start)) = whole(start)
    if (present(count)) then
      counts(:size(count)) = whole(count)
    else
      counts(:size(extents)) = extents
    end if
    at = -1
    if (present(record)) at = record - 1
    if (any(from < 1) .or. present(record) .and. at < 0) then
      code = refuse('start and record', 'variable '//variable, &
                    'count from 1, in integers of 32 or 64 bits')
    else if (any(counts < 0) .or. product(counts) /= product(extents)) then
      code = refuse('count', 'variable '//variable, &
                    'must have as many elements as the array, in integers of 32 or 64 bits')
    else if (replicated) then
      code = c_put_replicated(self%handle, int(id, c_int64_t), c(file), c(variable), kind, &
                              int(rank, c_int), from(rank:1:-1) - 1, counts(rank:1:-1), address, at)
    else
      code = c_put(self%handle, int(id, c_int64_t), c(file), c(variable), kind, int(rank, c_int), &
                   from(rank:1:-1) - 1, counts(rank:1:-1), address, at)
    end if
  end function put_block

  !> Ends a step; what is put next belongs to the next record.  [collective]
  !! @param time  of the coordinate: of the variable that is named like the unlimited dimension
  subroutine end_step(self, id, time, stat, errmsg)
    class(tailrace_server_t), intent(in) :: self
    integer, intent(in) :: id
    real(real64), intent(in), optional :: time
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: code

    code = c_end_step(self%handle, int(id, c_int64_t), time)
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine end_step

  !> The file gets its final name, if all went well.  [collective]
  subroutine close_file(self, id, stat, errmsg)
    class(tailrace_server_t), intent(in) :: self
    integer, intent(in) :: id
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: code

    code = c_close_file(self%handle, int(id, c_int64_t))
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine close_file

  !> The same as close_file.  [collective]
  subroutine flush_server(self, id, stat, errmsg)
    class(tailrace_server_t), intent(in) :: self
    integer, intent(in) :: id
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: code

    code = c_flush(self%handle, int(id, c_int64_t))
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine flush_server

  !> The first failure that this rank has heard of; never waits.  [local]
  subroutine server_status(self, stat, errmsg)
    class(tailrace_server_t), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: code

    code = c_status(self%handle)
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine server_status

  !> Flushes all, and lets the servers go.  [collective]
  subroutine finalize_server(self, stat, errmsg)
    class(tailrace_server_t), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    integer(c_int) :: code

    code = c_finalize(self%handle)
    if (present(errmsg)) errmsg = text_of(code)
    call finish(code, stat)
  end subroutine finalize_server

  !> On all ranks, before MPI_Finalize. Without finalize open files are given up.  [collective]
  subroutine free_server(self)
    class(tailrace_server_t), intent(inout) :: self

    call c_free_server(self%handle)
    self%handle = c_null_ptr
  end subroutine free_server

  !> Metadata come to be with the first call. If there is no memory, that call fails.
  subroutine make(metadata)
    class(tailrace_metadata_t), intent(inout) :: metadata

    if (.not. c_associated(metadata%handle)) then
      if (c_create(metadata%handle) /= tailrace_ok) metadata%handle = c_null_ptr
    end if
  end subroutine make

  !> Text for C; absent: an empty one, which means the same as NULL there.
  pure function c(text)
    character(len=*), intent(in), optional :: text
    character(kind=c_char, len=:), allocatable :: c

    c = c_null_char
    if (present(text)) c = trim(text)//c_null_char
  end function c

  pure function or_zero(number)
    integer, intent(in), optional :: number
    integer(c_int) :: or_zero

    or_zero = 0
    if (present(number)) or_zero = int(number, c_int)
  end function or_zero

  !> Words for C: each with a zero behind it, and where each begins.
  subroutine to_c(words, bytes, at)
    character(len=*), intent(in) :: words(:)
    character(kind=c_char), allocatable, target, intent(out) :: bytes(:, :)
    type(c_ptr), allocatable, intent(out) :: at(:)
    integer :: i, j

    allocate (bytes(len(words) + 1, size(words)), at(size(words)))
    bytes = c_null_char
    do i = 1, size(words)
      do j = 1, len_trim(words(i))
        bytes(j, i) = words(i) (j:j)
      end do
      at(i) = c_loc(bytes(1, i))
    end do
  end subroutine to_c

  !> The words between commas.
  pure function split(text) result(words)
    character(len=*), intent(in) :: text
    character(len=len(text)) :: words(count(transfer(text, ['a'], len(text)) == ',') + 1)
    integer :: i, begin, end

    begin = 1
    do i = 1, size(words)
      end = index(text(begin:)//',', ',') + begin - 2
      words(i) = adjustl(text(begin:end))
      begin = end + 2
    end do
  end function split

  !> Integers of 32 or 64 bits; of another type: values that no start and no count may have.
  function whole(numbers)
    class(*), intent(in) :: numbers(:)
    integer(int64), allocatable :: whole(:)

    select type (numbers)
    type is (integer(int32))
      whole = int(numbers, int64)
    type is (integer(int64))
      whole = numbers
    class default
      whole = spread(-1_int64, 1, size(numbers))
    end select
  end function whole

  !> @param kind  out: that of the value; -1, which the library refuses: none of the six
  subroutine to_bytes_one(name, value, kind, bytes)
    character(len=*), intent(in) :: name
    class(*), intent(in) :: value
    integer(c_int), intent(out) :: kind
    character(kind=c_char), allocatable, intent(out) :: bytes(:)

    kind = -1
    bytes = [c_null_char]
    select type (value)
    type is (integer(int8))
      kind = tailrace_int8
      bytes = transfer(value, bytes)
    type is (integer(int16))
      kind = tailrace_int16
      bytes = transfer(value, bytes)
    type is (integer(int32))
      kind = tailrace_int32
      bytes = transfer(value, bytes)
    type is (integer(int64))
      kind = tailrace_int64
      bytes = transfer(value, bytes)
    type is (real(real32))
      kind = tailrace_real32
      bytes = transfer(value, bytes)
    type is (real(real64))
      kind = tailrace_real64
      bytes = transfer(value, bytes)
    type is (character(len=*))
      kind = merge(tailrace_char, -1_c_int, len(value) == 1)
      if (kind < 0) refusal = trim(name)//' takes one character'
      bytes = transfer(value, bytes)
    class default
      refusal = no_number(name)
    end select
  end subroutine to_bytes_one

  subroutine to_bytes_list(name, values, kind, bytes)
    character(len=*), intent(in) :: name
    class(*), intent(in) :: values(:)
    integer(c_int), intent(out) :: kind
    character(kind=c_char), allocatable, intent(out) :: bytes(:)

    kind = -1
    bytes = [c_null_char]
    select type (values)
    type is (integer(int8))
      kind = tailrace_int8
      bytes = transfer(values, bytes)
    type is (integer(int16))
      kind = tailrace_int16
      bytes = transfer(values, bytes)
    type is (integer(int32))
      kind = tailrace_int32
      bytes = transfer(values, bytes)
    type is (integer(int64))
      kind = tailrace_int64
      bytes = transfer(values, bytes)
    type is (real(real32))
      kind = tailrace_real32
      bytes = transfer(values, bytes)
    type is (real(real64))
      kind = tailrace_real64
      bytes = transfer(values, bytes)
    type is (character(len=*))
      kind = tailrace_char
      bytes = transfer(values, bytes)
    class default
      refusal = no_number(name)
    end select
  end subroutine to_bytes_list

  pure function no_number(name) result(text)
    character(len=*), intent(in) :: name
    character(len=:), allocatable :: text

    text = trim(name)//' takes integers of 8, 16, 32 or 64 bits and reals of 32 or 64 bits'
  end function no_number

  !> For what the library cannot see.
  function refuse(what, whose, why) result(code)
    character(len=*), intent(in) :: what, whose, why
    integer(c_int) :: code

    refusal = what//' of '//trim(whose)//' '//why
    code = tailrace_invalid
  end function refuse

  !> Why the last call failed; 0: an empty text.
  function text_of(code) result(text)
    integer(c_int), intent(in) :: code
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i

    text = ''
    if (code == tailrace_ok) return
    if (allocated(refusal)) then
      text = refusal
      return
    end if
    call c_f_pointer(c_error(), characters, [c_strlen(c_error())])
    text = repeat(' ', size(characters))
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function text_of

  !> Ends the program if nobody asks for the number.
  subroutine finish(code, stat)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: stat

    if (present(stat)) then
      stat = int(code)
    else if (code /= tailrace_ok) then
      write (error_unit, '(a)') text_of(code)
      error stop 1
    end if
    if (allocated(refusal)) deallocate (refusal)
  end subroutine finish

end module tailrace_server
