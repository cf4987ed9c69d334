! SPDX-License-Identifier: Apache-2.0
! The model of first.c in Fortran: its files are the same.
!
!   mpiexec -n 6 ./first --npes_output_server 2     two more ranks write
!   mpiexec -n 4 ./first                            the model writes itself
program first
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use mpi
  use tailrace_server
  implicit none
  integer, parameter :: nx = 90, ny = 46, steps = 18, steps_per_day = 6
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
    type(tailrace_metadata_t) :: metadata
    real(real32), allocatable :: field(:, :)
    integer :: comm, rank, ranks, id, step, rows, before

    call server%comm(comm)
    call MPI_Comm_rank(comm, rank, ierror)
    call MPI_Comm_size(comm, ranks, ierror)
    call describe(metadata)
    call server%add_collection('history', metadata, id, &
                               options='file=history.%Y%m%d.nc4; existing=replace')
    call metadata%free()

    before = ny*rank/ranks
    rows = ny*(rank + 1)/ranks - before
    allocate (field(nx, rows))
    do step = 0, steps - 1
      call server%set_date(id, 2000, 1, 1 + step/steps_per_day)
      call compute(field, step, before)
      call server%put(id, 'T', field, start=[1, before + 1])
      call compute(field, step + 100, before) ! the array is free again
      call server%put(id, 'ps', field, start=[1, before + 1])
      call server%end_step(id, time=step*24.0_real64/steps_per_day)
    end do
    call server%finalize()
    if (rank == 0) print '(a)', '3 files are complete'
  end subroutine run

  subroutine describe(metadata)
    type(tailrace_metadata_t), intent(inout) :: metadata
    integer :: j

    call metadata%add_dimension('lon', nx)
    call metadata%add_dimension('lat', ny)
    call metadata%add_dimension('time', tailrace_unlimited)
    call metadata%add_variable('time', tailrace_real64, 'time')
    call metadata%set_attribute('units', 'hours since 2000-01-01 00:00:00', 'time')
    call metadata%add_variable('lat', tailrace_real64, 'lat')
    call metadata%set_constant('lat', [(-90 + 180.0_real64*j/(ny - 1), j=0, ny - 1)])
    call metadata%add_variable('T', tailrace_real32, 'lon,lat,time')
    call metadata%set_attribute('units', 'K', 'T')
    call metadata%add_variable('ps', tailrace_real32, 'lon,lat,time')
  end subroutine describe

  !> The rows of this rank.
  subroutine compute(field, step, before)
    real(real32), intent(out) :: field(:, :)
    integer, intent(in) :: step, before
    integer :: i, j

    do j = 1, size(field, 2)
      do i = 1, nx
        field(i, j) = real(step*10000 + (before + j - 1)*nx + i - 1, real32)
      end do
    end do
  end subroutine compute

end program first
