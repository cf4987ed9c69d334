! SPDX-License-Identifier: Apache-2.0
! Diagnostics that come one after the other: each defines its variable when it first has values, so
! that the header grows and moves everything behind it, and writes them in small puts (PnetCDF).
program growing_header
    use mpi
    use pnetcdf
    implicit none
    integer, parameter :: points = 16384, pieces = 8
    integer :: rank, ranks, status, variables, variable, piece, file, dimension, here, mine, i
    integer(kind=MPI_OFFSET_KIND) :: from(1), length(1)
    real(kind=8), allocatable :: values(:)
    real(kind=8) :: scale
    character(len=4096) :: output, word, value, name

    call MPI_Init(status)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, status)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, status)
    output = 'diagnostics.nc'
    scale = 1
    do i = 1, command_argument_count() - 1, 2
        call get_command_argument(i, word)
        call get_command_argument(i + 1, value)
        if (word == '--output') output = value
        if (word == '--scale') read (value, *) scale
    end do
    variables = max(2, nint(768 * scale))
    mine = points / pieces
    allocate (values(mine))

    call need(nf90mpi_create(MPI_COMM_WORLD, trim(output), ior(NF90_CLOBBER, NF90_64BIT_DATA), &
                             MPI_INFO_NULL, file))
    length(1) = points * int(ranks, MPI_OFFSET_KIND)
    call need(nf90mpi_def_dim(file, 'point', length(1), dimension))
    do variable = 1, variables
        if (variable > 1) call need(nf90mpi_redef(file))
        write (name, '(a,i4.4)') 'diagnostic_', variable
        call need(nf90mpi_def_var(file, trim(name), NF90_DOUBLE, (/dimension/), here))
        call need(nf90mpi_put_att(file, here, 'units', 'K'))
        call need(nf90mpi_enddef(file))
        do piece = 0, pieces - 1
            from(1) = 1 + (int(rank, MPI_OFFSET_KIND) * pieces + piece) * mine
            length(1) = mine
            do i = 1, mine
                values(i) = variable + 1d-6 * real(from(1) + i, kind=8)
            end do
            call need(nf90mpi_put_var_all(file, here, values, from, length))
        end do
    end do
    call need(nf90mpi_close(file))
    call MPI_Finalize(status)

contains
    subroutine need(code)
        integer, intent(in) :: code
        integer :: ended
        if (code == NF90_NOERR) return
        write (0, '(2a)') 'error: ', trim(nf90mpi_strerror(code))
        call MPI_Abort(MPI_COMM_WORLD, 1, ended)
    end subroutine
end program
