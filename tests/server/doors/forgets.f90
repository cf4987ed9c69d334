! SPDX-License-Identifier: Apache-2.0
! A model that ends MPI, and has not finalized the server.
program forgets
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
  call MPI_Finalize(ierror)

contains

  subroutine run()
    type(tailrace_metadata_t) :: metadata
    integer :: id
    real(real32) :: field(4)

    field = 1.0
    call metadata%add_dimension('x', 4)
    call metadata%add_dimension('time', 0)
    call metadata%add_variable('field', tailrace_real32, 'x,time')
    call server%add_collection('fields', metadata, id)
    call server%put_replicated(id, 'field', field, file='fields.nc4')
    call server%end_step(id)
  end subroutine run
end program forgets
