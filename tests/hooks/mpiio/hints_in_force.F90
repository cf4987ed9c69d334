! SPDX-License-Identifier: Apache-2.0
! What hints are in force of a file that is opened without any, by mpif.h, `use mpi` (-DUSE_MPI) or
! `use mpi_f08` (-DUSE_F08).
program hints_in_force
#if defined(USE_F08)
  use mpi_f08
  implicit none
  type(MPI_File) :: f
  type(MPI_Info) :: hints
#elif defined(USE_MPI)
  use mpi
  implicit none
  integer :: f, hints
#else
  implicit none
  include 'mpif.h'
  integer :: f, hints
#endif
  integer :: ierr, rank, k
  logical :: there
  character(len=1024) :: name, key
  character(len=255) :: value

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call get_command_argument(1, name)
  call MPI_File_open(MPI_COMM_WORLD, trim(name), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), &
                     MPI_INFO_NULL, f, ierr)
  if (ierr /= MPI_SUCCESS) stop 1
  call MPI_File_get_info(f, hints, ierr)
  do k = 2, command_argument_count()
    call get_command_argument(k, key)
    value = 'none'
    call MPI_Info_get(hints, trim(key), 255, value, there, ierr)
    if (rank == 0) print '(a, 1x, a)', trim(key), trim(value)
  end do
  call MPI_Info_free(hints, ierr)
  call MPI_File_close(f, ierr)
  call MPI_Finalize(ierr)
end program hints_in_force
