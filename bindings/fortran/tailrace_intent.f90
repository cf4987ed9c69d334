! SPDX-License-Identifier: Apache-2.0
!> Declaring intents in Fortran (tailrace/intent.h). Compile it with the program and link with
!! -ltailrace_intent. Lists are those of HDF5's Fortran interface (hid_t).
!!
!!     call tailrace_intent_set(access_list, '{"reliability": "scratch"}')
!!
!! Each call has the optional arguments stat (0, or a number of intent.h) and errmsg; without stat
!! the program stops with the text.
module tailrace_intent
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_int64_t, c_loc, c_null_char, &
    c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: tailrace_intent_set, tailrace_intent_get, tailrace_intent_clear
  public :: tailrace_intent_push, tailrace_intent_pop

  interface
    function c_set(plist, json) result(code) bind(c, name='tailrace_intent_set')
      import :: c_char, c_int, c_int64_t
      integer(c_int64_t), value :: plist
      character(kind=c_char), intent(in) :: json(*)
      integer(c_int) :: code
    end function c_set
    function c_get(plist, json, bytes, needed) result(code) bind(c, name='tailrace_intent_get')
      import :: c_int, c_int64_t, c_ptr, c_size_t
      integer(c_int64_t), value :: plist
      type(c_ptr), value :: json
      integer(c_size_t), value :: bytes
      integer(c_size_t), intent(out) :: needed
      integer(c_int) :: code
    end function c_get
    function c_clear(plist) result(code) bind(c, name='tailrace_intent_clear')
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: plist
      integer(c_int) :: code
    end function c_clear
    function c_push(json, token) result(code) bind(c, name='tailrace_intent_push')
      import :: c_char, c_int, c_int64_t
      character(kind=c_char), intent(in) :: json(*)
      integer(c_int64_t), intent(out) :: token
      integer(c_int) :: code
    end function c_push
    function c_pop(token) result(code) bind(c, name='tailrace_intent_pop')
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: token
      integer(c_int) :: code
    end function c_pop
    function c_error() result(text) bind(c, name='tailrace_intent_error')
      import :: c_ptr
      type(c_ptr) :: text
    end function c_error
    function c_strlen(text) result(length) bind(c, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen
  end interface

contains

  !> Declares what is to be done with the files or datasets of a property list.  [local]
  subroutine tailrace_intent_set(plist, json, stat, errmsg)
    integer(c_int64_t), intent(in) :: plist
    character(len=*), intent(in) :: json
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    character(len=:), allocatable :: text

    call finish(c_set(plist, trim(json)//c_null_char), text, stat)
    if (present(errmsg)) errmsg = text
  end subroutine tailrace_intent_set

  !> What is declared on a list; empty: nothing.  [local]
  subroutine tailrace_intent_get(plist, json, stat, errmsg)
    integer(c_int64_t), intent(in) :: plist
    character(len=:), allocatable, intent(out) :: json
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    character(len=:), allocatable :: text
    character(kind=c_char), allocatable, target :: buffer(:)
    integer(c_size_t) :: bytes, needed
    integer(c_int) :: code

    json = ''
    needed = 0
    code = c_get(plist, c_null_ptr, 0_c_size_t, needed)
    if (code == 0) then
      bytes = needed
      allocate (buffer(bytes))
      code = c_get(plist, c_loc(buffer), bytes, needed)
      if (code == 0) json = joined(buffer, int(needed) - 1)
    end if
    call finish(code, text, stat)
    if (present(errmsg)) errmsg = text
  end subroutine tailrace_intent_get

  !> Takes a declaration off a list.  [local]
  subroutine tailrace_intent_clear(plist, stat, errmsg)
    integer(c_int64_t), intent(in) :: plist
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    character(len=:), allocatable :: text

    call finish(c_clear(plist), text, stat)
    if (present(errmsg)) errmsg = text
  end subroutine tailrace_intent_clear

  !> Declares of files by pattern, until tailrace_intent_pop takes it back.  [local]
  subroutine tailrace_intent_push(json, token, stat, errmsg)
    character(len=*), intent(in) :: json
    integer(c_int64_t), intent(out) :: token
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    character(len=:), allocatable :: text

    token = 0
    call finish(c_push(trim(json)//c_null_char, token), text, stat)
    if (present(errmsg)) errmsg = text
  end subroutine tailrace_intent_push

  !> Takes a declaration by pattern back.  [local]
  subroutine tailrace_intent_pop(token, stat, errmsg)
    integer(c_int64_t), intent(in) :: token
    integer, intent(out), optional :: stat
    character(len=:), allocatable, intent(out), optional :: errmsg
    character(len=:), allocatable :: text

    call finish(c_pop(token), text, stat)
    if (present(errmsg)) errmsg = text
  end subroutine tailrace_intent_pop

  pure function joined(characters, length) result(text)
    character(kind=c_char), intent(in) :: characters(:)
    integer, intent(in) :: length
    character(len=length) :: text
    integer :: at

    do at = 1, length
      text(at:at) = characters(at)
    end do
  end function joined

  !> The text of an error; where nobody asks for its number, the end of the program. (Deferred
  !! lengths do not survive being passed on as an optional argument with gfortran 12.)
  subroutine finish(code, text, stat)
    integer(c_int), intent(in) :: code
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(kind=c_char), pointer :: characters(:)
    type(c_ptr) :: address
    integer(c_size_t) :: length

    text = ''
    if (code /= 0) then
      address = c_error()
      length = c_strlen(address)
      call c_f_pointer(address, characters, [length])
      text = joined(characters, int(length))
    end if
    if (present(stat)) then
      stat = int(code)
    else if (code /= 0) then
      write (error_unit, '(a)') text
      error stop 1
    end if
  end subroutine finish

end module tailrace_intent
