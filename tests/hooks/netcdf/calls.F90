! SPDX-License-Identifier: Apache-2.0
! netcdf_calls FOLDER [mpi]: netCDF-C as a Fortran program without netCDF-Fortran calls it. What each
! call answered goes to FOLDER/lines.<rank>.
module netcdf_c
    use, intrinsic :: iso_c_binding
    implicit none
    integer(c_int), parameter :: nc_netcdf4 = 4096, nc_double = 6, nc_nowrite = 0, nc_chunked = 0
    integer(c_int), parameter :: nc_collective = 1, nc_global = -1
    interface
        integer(c_int) function nc_create(path, mode, file) bind(c)
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: mode
            integer(c_int), intent(out) :: file
        end function
        ! Communicator and hints are Fortran's handles.
        integer(c_int) function nc_create_par(path, mode, comm, info, file) &
            bind(c, name="nc_create_par_fortran")
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: mode, comm, info
            integer(c_int), intent(out) :: file
        end function
        integer(c_int) function nc_open_par(path, mode, comm, info, file) &
            bind(c, name="nc_open_par_fortran")
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: mode, comm, info
            integer(c_int), intent(out) :: file
        end function
        integer(c_int) function nc_open(path, mode, file) bind(c)
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: mode
            integer(c_int), intent(out) :: file
        end function
        integer(c_int) function nc_var_par_access(file, variable, access) bind(c)
            import :: c_int
            integer(c_int), value :: file, variable, access
        end function
        integer(c_int) function nc_def_dim(file, name, length, dim) bind(c)
            import :: c_int, c_char, c_size_t
            integer(c_int), value :: file
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: length
            integer(c_int), intent(out) :: dim
        end function
        integer(c_int) function nc_def_var(file, name, kind, count, dims, variable) bind(c)
            import :: c_int, c_char
            integer(c_int), value :: file, kind, count
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), intent(in) :: dims(*)
            integer(c_int), intent(out) :: variable
        end function
        integer(c_int) function nc_def_var_chunking(file, variable, storage, chunk) bind(c)
            import :: c_int, c_size_t
            integer(c_int), value :: file, variable, storage
            integer(c_size_t), intent(in) :: chunk(*)
        end function
        integer(c_int) function nc_def_var_deflate(file, variable, shuffle, deflate, level) bind(c)
            import :: c_int
            integer(c_int), value :: file, variable, shuffle, deflate, level
        end function
        integer(c_int) function nc_put_att_text(file, variable, name, length, text) bind(c)
            import :: c_int, c_char, c_size_t
            integer(c_int), value :: file, variable
            integer(c_size_t), value :: length
            character(kind=c_char), intent(in) :: name(*), text(*)
        end function
        integer(c_int) function nc_enddef(file) bind(c)
            import :: c_int
            integer(c_int), value :: file
        end function
        integer(c_int) function nc_put_vara_double(file, variable, from, count, values) bind(c)
            import :: c_int, c_size_t, c_double
            integer(c_int), value :: file, variable
            integer(c_size_t), intent(in) :: from(*), count(*)
            real(c_double), intent(in) :: values(*)
        end function
        integer(c_int) function nc_get_vara_double(file, variable, from, count, values) bind(c)
            import :: c_int, c_size_t, c_double
            integer(c_int), value :: file, variable
            integer(c_size_t), intent(in) :: from(*), count(*)
            real(c_double), intent(out) :: values(*)
        end function
        integer(c_int) function nc_inq_varid(file, name, variable) bind(c)
            import :: c_int, c_char
            integer(c_int), value :: file
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), intent(out) :: variable
        end function
        integer(c_int) function nc_sync(file) bind(c)
            import :: c_int
            integer(c_int), value :: file
        end function
        integer(c_int) function nc_close(file) bind(c)
            import :: c_int
            integer(c_int), value :: file
        end function
    end interface
end module

program netcdf_calls
    use mpi
    use netcdf_c
    implicit none
    integer, parameter :: columns = 10, rows_each = 3, steps = 4
    integer :: rank, ranks, error, out, step
    integer(c_int) :: file, dims(3), plain, grown, found
    integer(c_size_t) :: from(3), count(3)
    real(c_double) :: values(columns, rows_each), back(columns)
    logical :: parallel
    character(len=256) :: folder, word, name

    call get_command_argument(1, folder)
    call get_command_argument(2, word)
    parallel = word == "mpi"
    rank = 0
    ranks = 1
    if (parallel) then
        call mpi_init(error)
        call mpi_comm_rank(mpi_comm_world, rank, error)
        call mpi_comm_size(mpi_comm_world, ranks, error)
    end if
    write (name, "(a, i0)") "lines.", rank
    open (newunit=out, file=trim(folder)//"/"//trim(name), action="write", status="replace")
    call tell("create", created(trim(folder)//"/all.nc"//c_null_char))
    call define()
    do step = 0, steps - 1
        values = real(step + 10*rank, c_double)
        values(:, 2) = [(real(found, c_double), found=1, columns)]
        from = [int(step, c_size_t), int(rank*rows_each, c_size_t), 0_c_size_t]
        count = [1_c_size_t, int(rows_each, c_size_t), int(columns, c_size_t)]
        call tell("put grown", nc_put_vara_double(file, grown, from, count, values))
        call tell("put plain", nc_put_vara_double(file, plain, from(2:), count(2:), values))
        call tell("sync", nc_sync(file))
    end do
    call tell("no variable", nc_inq_varid(file, "nothing"//c_null_char, found))
    from = [0_c_size_t, 1000_c_size_t, 0_c_size_t]
    call tell("too far", nc_put_vara_double(file, plain, from(2:), count(2:), values))
    call tell("close", nc_close(file))
    call tell("no file", opened(trim(folder)//"/absent.nc"//c_null_char))
    call tell("open", opened(trim(folder)//"/all.nc"//c_null_char))
    call tell("found", nc_inq_varid(file, "grown"//c_null_char, grown))
    call independent_or_not(grown)
    from = [2_c_size_t, 1_c_size_t, 0_c_size_t]
    count = [1_c_size_t, 1_c_size_t, int(columns, c_size_t)]
    call tell("get", nc_get_vara_double(file, grown, from, count, back))
    write (out, "(a, *(1x, f0.1))") "read again:", back
    call tell("close", nc_close(file))
    close (out)
    if (parallel) call mpi_finalize(error)
    print "(a)", "done"

contains

    subroutine tell(what, code)
        character(len=*), intent(in) :: what
        integer(c_int), intent(in) :: code
        write (out, "(a, a, i0)") what, ": ", code
    end subroutine

    integer(c_int) function created(path)
        character(len=*), intent(in) :: path
        if (parallel) then
            created = nc_create_par(path, nc_netcdf4, mpi_comm_world, mpi_info_null, file)
        else
            created = nc_create(path, nc_netcdf4, file)
        end if
    end function

    integer(c_int) function opened(path)
        character(len=*), intent(in) :: path
        if (parallel) then
            opened = nc_open_par(path, nc_nowrite, mpi_comm_world, mpi_info_null, file)
        else
            opened = nc_open(path, nc_nowrite, file)
        end if
    end function

    subroutine independent_or_not(variable)
        integer(c_int), intent(in) :: variable
        if (parallel) call tell("access", nc_var_par_access(file, variable, nc_collective))
    end subroutine

    subroutine define()
        integer(c_size_t) :: chunk(3)
        chunk = [1_c_size_t, int(rows_each, c_size_t), int(columns, c_size_t)]
        call tell("time", nc_def_dim(file, "time"//c_null_char, 0_c_size_t, dims(1)))
        call tell("y", nc_def_dim(file, "y"//c_null_char, int(rows_each*ranks, c_size_t), dims(2)))
        call tell("x", nc_def_dim(file, "x"//c_null_char, int(columns, c_size_t), dims(3)))
        call tell("plain", nc_def_var(file, "plain"//c_null_char, nc_double, 2, dims(2:), plain))
        call tell("grown", nc_def_var(file, "grown"//c_null_char, nc_double, 3, dims, grown))
        call tell("chunks", nc_def_var_chunking(file, grown, nc_chunked, chunk))
        call tell("deflate", nc_def_var_deflate(file, grown, 1, 1, 2))
        call tell("att", nc_put_att_text(file, nc_global, "title"//c_null_char, 6_c_size_t, "a file"))
        call tell("enddef", nc_enddef(file))
        call independent_or_not(plain)
        call independent_or_not(grown)
    end subroutine

end program
