! SPDX-License-Identifier: Apache-2.0
! Wrong calls of the Fortran door. Each prints its number and its text; with the argument `stop` the
! last one has no stat. Then every kind and rank is put, and everything closes.
program errors
  use, intrinsic :: iso_fortran_env
  use mpi
  use tailrace_server
  implicit none
  type(tailrace_server_t) :: server
  logical :: is_model
  integer :: ierror

  call MPI_Init(ierror)
  call server%start(MPI_COMM_WORLD, is_model)
  if (is_model) call run()
  call server%free()
  call MPI_Finalize(ierror)

contains

  subroutine run()
    type(tailrace_metadata_t) :: metadata, empty
    character(len=:), allocatable :: text
    character(len=8) :: word
    integer :: id, code, comm, rank
    real(real32) :: field(4, 6)

    call server%comm(comm)
    call MPI_Comm_rank(comm, rank, ierror)
    call metadata%add_dimension('x', 4)
    call metadata%add_dimension('y', 6_int64)
    call metadata%add_dimension('z', 2.0, stat=code, errmsg=text)
    call say('length', code, text)
    call metadata%add_variable('field', tailrace_real32, 'x, y')
    call metadata%add_variable('wrong', tailrace_real32, 'y,x', stat=code)
    call metadata%add_variable('lost', tailrace_real32, 'x,w', stat=code, errmsg=text)
    call say('dimension', code, text)
    call metadata%set_fill('field', 1.0_real64, stat=code, errmsg=text)
    call say('fill', code, text)
    call metadata%set_fill('field', -1.0)
    call metadata%set_constant('field', [1, 2], stat=code, errmsg=text)
    call say('constant', code, text)
    call metadata%set_attribute('flag', .true., 'field', stat=code, errmsg=text)
    call say('attribute', code, text)
    call metadata%set_attribute('range', [1_int16, 3_int16], 'field')
    call metadata%set_attribute('title', 'of Fortran   ')
    call metadata%set_attribute('gone', 3_int64)
    call metadata%remove_attribute('gone')
    call metadata%remove_variable('wrong')
    call server%add_collection('nothing', empty, id, stat=code, errmsg=text)
    call say('empty', code, text)
    call server%add_collection('fields', metadata, id)
    call metadata%free()

    field = real(rank)
    call server%put(id, 'feild', field, stat=code, errmsg=text, file='fields.nc4')
    call say('name', code, text)
    call server%put(id, 'field', field(:, 1), stat=code, errmsg=text, file='fields.nc4')
    call say('shape', code, text)
    call server%put(id, 'field', field, start=[2, 1], stat=code, errmsg=text, file='fields.nc4')
    call say('outside', code, text)
    call server%put(id, 'field', real(field, real64), stat=code, errmsg=text, file='fields.nc4')
    call say('kind', code, text)
    call server%put(id, 'field', field, start=[0, 1], stat=code, errmsg=text, file='fields.nc4')
    call say('start', code, text)
    call server%put(id, 'field', field, count=[4, 5], stat=code, errmsg=text, file='fields.nc4')
    call say('count', code, text)
    call server%put(id, 'field', field, stat=code, errmsg=text)
    call say('file', code, text)
    call server%put_replicated(id, 'field', field, file='fields.nc4', stat=code, errmsg=text)
    call say('good', code, text)
    call server%end_step(id, stat=code)
    call server%close_file(id)
    call server%put(id, 'field', field, stat=code, errmsg=text)
    call say('closed', code, text)
    call server%status(stat=code, errmsg=text)
    call say('status', code, text)
    call server%finalize()
    call get_command_argument(command_argument_count(), word)
    if (word == 'stop') call server%put(id, 'field', field, file='fields.nc4')
    call server%put(id, 'field', field, file='fields.nc4', stat=code, errmsg=text)
    call say('finalized', code, text)
  end subroutine run

  subroutine say(what, code, text)
    character(len=*), intent(in) :: what, text
    integer, intent(in) :: code

    print '(2a,i0,1x,a)', what, ': ', code, text
  end subroutine say

end program errors
