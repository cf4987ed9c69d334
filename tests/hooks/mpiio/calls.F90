! SPDX-License-Identifier: Apache-2.0
! Known calls of MPI-IO from Fortran, by mpif.h, `use mpi` (-DUSE_MPI) or `use mpi_f08` (-DUSE_F08).
program calls
#if defined(USE_F08)
  use mpi_f08
  implicit none
  type(MPI_File) :: f
  type(MPI_Request) :: r
  type(MPI_Info) :: hints
  type(MPI_Status) :: status
#elif defined(USE_MPI)
  use mpi
  implicit none
  integer :: f, r, hints, status(MPI_STATUS_SIZE)
#else
  implicit none
  include 'mpif.h'
  integer :: f, r, hints, status(MPI_STATUS_SIZE)
#endif
  integer :: ierr, rank, k
  integer(kind=MPI_OFFSET_KIND) :: at, displacement
  double precision :: values(64)
  character(len=1024) :: name

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call get_command_argument(1, name)
  values = rank
  at = rank * 512
  displacement = 0
  call MPI_Info_create(hints, ierr)
  call MPI_Info_set(hints, 'cb_nodes', '1', ierr)
  call MPI_File_open(MPI_COMM_WORLD, trim(name), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), hints, f, ierr)
  if (ierr /= MPI_SUCCESS) stop 1
  call MPI_File_set_view(f, displacement, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, ierr)
  do k = 1, 2
    call MPI_File_write_at_all(f, at, values, 64, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
  end do
  do k = 1, 3
    call MPI_File_write_at(f, at, values, 2, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
  end do
  call MPI_File_iwrite_at(f, at, values, 1, MPI_DOUBLE_PRECISION, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call MPI_File_write_at_all_begin(f, at, values, 3, MPI_DOUBLE_PRECISION, ierr)
  call MPI_File_write_at_all_end(f, values, MPI_STATUS_IGNORE, ierr)
  call MPI_File_write_ordered(f, values, 4, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
  call MPI_File_sync(f, ierr)
  call MPI_File_read_at_all(f, at, values, 64, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read_at(f, at, values, 1, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
  ! The file has 1024 bytes: the last 8 come, whether the program asks how many or not.
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  at = 1016
  call MPI_File_read_at(f, at, values, 64, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read_at(f, at, values, 64, MPI_DOUBLE_PRECISION, status, ierr)
  call MPI_Get_count(status, MPI_BYTE, k, ierr)
  if (k /= 8) stop 2
  call MPI_File_close(f, ierr)
  call MPI_Info_free(hints, ierr)
  call MPI_Finalize(ierr)
end program calls
