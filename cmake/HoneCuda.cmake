# The engine's CUDA side: libhone_cuda.so beside the program, which opens it at run time (src/engine/device/device.h) and is
# linked with nothing of CUDA. Made by custom commands: to enable CMake's language CUDA would take seconds of every configure.
set(HONE_CUDA auto CACHE STRING "The CUDA side: auto (where nvcc is found), on, off")
set_property(CACHE HONE_CUDA PROPERTY STRINGS auto on off)
set(HONE_CUDA_OLDEST 12.0)
set(HONE_CUDA_LIBRARY "")  # the file that is built, if one is

# hone_find_nvcc(OUT PROBLEM): a compiler that will do, or why there is none.
function(hone_find_nvcc out problem)
  file(GLOB versions LIST_DIRECTORIES true /usr/local/cuda-*)
  list(SORT versions COMPARE NATURAL ORDER DESCENDING)
  list(TRANSFORM versions APPEND /bin)
  set(named "$ENV{CUDACXX}")
  if(EXISTS "${named}")
    set(HONE_NVCC ${named} CACHE FILEPATH "NVIDIA's compiler")
  endif()
  find_program(HONE_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin PATHS /usr/local/cuda/bin ${versions})
  set(${out} "" PARENT_SCOPE)
  if(NOT HONE_NVCC)
    set(${problem} "there is no nvcc on PATH, in CUDA_HOME or in /usr/local/cuda" PARENT_SCOPE)
    return()
  endif()
  if(NOT HONE_NVCC_SEEN STREQUAL HONE_NVCC)  # asked once, not by every configure
    execute_process(COMMAND ${HONE_NVCC} --version OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT text MATCHES "release ([0-9]+[.][0-9]+)")
      set(${problem} "${HONE_NVCC} does not run" PARENT_SCOPE)
      return()
    endif()
    set(HONE_NVCC_VERSION "${CMAKE_MATCH_1}" CACHE INTERNAL "")
    set(HONE_NVCC_SEEN ${HONE_NVCC} CACHE INTERNAL "")
  endif()
  if(HONE_NVCC_VERSION VERSION_LESS HONE_CUDA_OLDEST)
    set(${problem} "${HONE_NVCC} is of CUDA ${HONE_NVCC_VERSION}, older than ${HONE_CUDA_OLDEST}" PARENT_SCOPE)
    return()
  endif()
  set(${out} ${HONE_NVCC} PARENT_SCOPE)
endfunction()

# hone_cuda_library(FOLDER SOURCES): the target hone_cuda from the .cu files of a folder.
function(hone_cuda_library folder sources)
  set(library ${CMAKE_BINARY_DIR}/libhone_cuda.so)
  set(exports ${folder}/exports.map)
  # -fmad=false: what a kernel computes is what its source says, as everywhere (HoneOptions). Machine code for Hopper, and PTX
  # that drivers compile for what came later.
  set(flags -std=c++17 -O3 -fmad=false -lineinfo -Xcompiler=-fPIC,-Wall,-Wextra -I${CMAKE_SOURCE_DIR}/src)
  set(targets -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90)
  # With instructions that Hopper alone has; where they are used, the GPU is asked first.
  set(few_rows_targets -gencode arch=compute_90a,code=sm_90a)
  # From the preprocessor ccache would see the host's half alone, so it goes by the files that are read.
  set(compiler ${nvcc})
  if(HONE_CCACHE)
    set(compiler ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 ${HONE_CCACHE} ${nvcc})
  endif()
  set(objects)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda/${name}.o)
    set(for ${targets})
    if(DEFINED ${name}_targets)
      set(for ${${name}_targets})
    endif()
    add_custom_command(OUTPUT ${object}
      COMMAND ${compiler} ${flags} ${for} -MD -MT ${object} -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d COMMENT "Building CUDA object ${name}.o" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cuda)
  # CUDA's runtime is in it; cuBLASLt is opened by it.
  add_custom_command(OUTPUT ${library}
    COMMAND ${nvcc} -shared -cudart static -Xlinker --version-script=${exports} -Xlinker --no-undefined
      ${objects} -ldl -o ${library}
    DEPENDS ${objects} ${exports} COMMENT "Linking libhone_cuda.so" VERBATIM)
  add_custom_target(hone_cuda ALL DEPENDS ${library})
  set(HONE_CUDA_LIBRARY ${library} PARENT_SCOPE)
endfunction()

string(TOLOWER "${HONE_CUDA}" wanted)
if(NOT wanted MATCHES "^(auto|on|off)$")
  message(FATAL_ERROR "HONE_CUDA is \"${HONE_CUDA}\"; say auto, on or off")
endif()
set(problem "HONE_CUDA is off")
if(NOT wanted STREQUAL "off")
  hone_find_nvcc(nvcc problem)
  set(folder ${CMAKE_SOURCE_DIR}/src/engine/kernels/cuda)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cu)
  if(nvcc AND NOT sources)
    set(problem "there are no kernels in ${folder}")
  elseif(nvcc)
    hone_cuda_library(${folder} "${sources}")
  elseif(wanted STREQUAL "on")
    message(FATAL_ERROR "HONE_CUDA=on, but ${problem}. Install NVIDIA's CUDA toolkit ${HONE_CUDA_OLDEST} or later "
      "(cuda-nvcc, cuda-cudart-dev and libcublas-dev of its version), or name its nvcc in CUDACXX.")
  endif()
endif()
if(NOT HONE_CUDA_LIBRARY)
  # What asks for it need not know whether there is one.
  add_custom_target(hone_cuda COMMAND ${CMAKE_COMMAND} -E echo "No CUDA side is built: ${problem}." VERBATIM)
endif()
