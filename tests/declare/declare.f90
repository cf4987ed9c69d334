! SPDX-License-Identifier: Apache-2.0
! Declares intents in Fortran. HDF5 is called through its C functions, whose names are the same in
! every build of it.
module hdf5_of_c
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    function h5open() result(code) bind(c, name='H5open')
      import :: c_int
      integer(c_int) :: code
    end function h5open
    function h5pcreate(list_class) result(list) bind(c, name='H5Pcreate')
      import :: c_int64_t
      integer(c_int64_t), value :: list_class
      integer(c_int64_t) :: list
    end function h5pcreate
    function h5fcreate(name, flags, creation, access) result(file) bind(c, name='H5Fcreate')
      import :: c_char, c_int, c_int64_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: flags
      integer(c_int64_t), value :: creation, access
      integer(c_int64_t) :: file
    end function h5fcreate
    function h5fclose(file) result(code) bind(c, name='H5Fclose')
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: file
      integer(c_int) :: code
    end function h5fclose
  end interface
  integer(c_int64_t), bind(c, name='H5P_CLS_FILE_ACCESS_ID_g') :: file_access_class
end module hdf5_of_c

program declare
  use hdf5_of_c
  use tailrace_intent
  implicit none
  integer(c_int64_t) :: access, file, token
  character(len=:), allocatable :: text, message
  integer :: code

  if (h5open() < 0) error stop 'H5open'
  access = h5pcreate(file_access_class)
  call tailrace_intent_get(access, text)
  print '(3a)', '[', text, ']'
  call tailrace_intent_set(access, '{"reliability": "scratch", "sequense": 1}', stat=code, &
                           errmsg=message)
  print '(i0,1x,a)', code, message
  call tailrace_intent_set(access, '{"reliability": "scratch", "append": true}   ')
  call tailrace_intent_get(access, text, stat=code, errmsg=message)
  print '(i0,1x,4a)', code, text, ' [', message, ']'
  file = h5fcreate('fortran.h5'//c_null_char, 2_c_int, 0_c_int64_t, access)
  code = h5fclose(file)
  call tailrace_intent_clear(access)
  call tailrace_intent_push('{"files": {"*.h5": {"order": "sequential"}}}', token)
  file = h5fcreate('pattern.h5'//c_null_char, 2_c_int, 0_c_int64_t, access)
  code = h5fclose(file)
  call tailrace_intent_pop(token)
  print '(a)', 'the last one stops:'
  call tailrace_intent_pop(token)
  print '(a)', 'not reached'
end program declare
