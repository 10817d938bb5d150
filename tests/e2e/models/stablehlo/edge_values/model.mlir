module @jit_net attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x2xi32> {mhlo.layout_mode = "default"}, %arg1: tensor<6x4xi32> {mhlo.layout_mode = "default"}, %arg2: tensor<6x4xi32> {mhlo.layout_mode = "default"}, %arg3: tensor<6x6xf32> {mhlo.layout_mode = "default"}) -> (tensor<6xi32> {jax.result_info = "['argmax']", mhlo.layout_mode = "default"}, tensor<6x2xf32> {jax.result_info = "['gathered']", mhlo.layout_mode = "default"}, tensor<6x2x3xf32> {jax.result_info = "['hot']", mhlo.layout_mode = "default"}, tensor<6xf32> {jax.result_info = "['largest']", mhlo.layout_mode = "default"}, tensor<6x6xf32> {jax.result_info = "['log']", mhlo.layout_mode = "default"}, tensor<6x6xf32> {jax.result_info = "['maximum']", mhlo.layout_mode = "default"}, tensor<6xi32> {jax.result_info = "['mean']", mhlo.layout_mode = "default"}, tensor<6x6xf32> {jax.result_info = "['norm']", mhlo.layout_mode = "default"}, tensor<6x4xf32> {jax.result_info = "['pooled']", mhlo.layout_mode = "default"}, tensor<6x4xi32> {jax.result_info = "['quotient']", mhlo.layout_mode = "default"}, tensor<6x6xf32> {jax.result_info = "['relu']", mhlo.layout_mode = "default"}, tensor<6x12xf32> {jax.result_info = "['resized']", mhlo.layout_mode = "default"}, tensor<6x6xf32> {jax.result_info = "['scaled']", mhlo.layout_mode = "default"}, tensor<6x6xf32> {jax.result_info = "['sigmoid']", mhlo.layout_mode = "default"}, tensor<6x6xf32> {jax.result_info = "['softmax']", mhlo.layout_mode = "default"}, tensor<6x4xi32> {jax.result_info = "['sum']", mhlo.layout_mode = "default"}, tensor<6x2xf32> {jax.result_info = "['top']", mhlo.layout_mode = "default"}, tensor<6x6xi32> {jax.result_info = "['whole']", mhlo.layout_mode = "default"}) {
    %cst = stablehlo.constant dense<[1.000000e+01, 2.000000e+01, 3.000000e+01, 4.000000e+01, 5.000000e+01]> : tensor<5xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<6xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %cst_1 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<6x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x6xf32>
    %5 = stablehlo.subtract %arg3, %4 : tensor<6x6xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = call @_var(%arg3, %c) : (tensor<6x6xf32>, tensor<i32>) -> tensor<6x1xf32>
    %cst_2 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<6x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x6xf32>
    %11 = stablehlo.multiply %5, %10 : tensor<6x6xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<f32>
    %13 = "stablehlo.reduce_window"(%arg3, %12) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %56 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
      stablehlo.return %56 : tensor<f32>
    }) : (tensor<6x6xf32>, tensor<f32>) -> tensor<6x4xf32>
    %14 = call @argmax(%arg3) : (tensor<6x6xf32>) -> tensor<6xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<6x2xi32>
    %16 = stablehlo.compare  LT, %arg0, %15,  SIGNED : (tensor<6x2xi32>, tensor<6x2xi32>) -> tensor<6x2xi1>
    %c_5 = stablehlo.constant dense<5> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<6x2xi32>
    %18 = stablehlo.add %arg0, %17 : tensor<6x2xi32>
    %19 = stablehlo.select %16, %18, %arg0 : tensor<6x2xi1>, tensor<6x2xi32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<6x2xi32>) -> tensor<6x2x1xi32>
    %21 = "stablehlo.gather"(%cst, %20) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<6x2x1xi32>) -> tensor<6x2xf32>
    %22 = call @_one_hot(%arg0) : (tensor<6x2xi32>) -> tensor<6x2x3xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = stablehlo.reduce(%arg3 init: %cst_6) applies stablehlo.maximum across dimensions = [1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<6xf32>
    %24 = stablehlo.log %arg3 : tensor<6x6xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %26 = stablehlo.maximum %arg3, %25 : tensor<6x6xf32>
    %27 = stablehlo.convert %arg2 : (tensor<6x4xi32>) -> tensor<6x4xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_8) applies stablehlo.add across dimensions = [1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6xf32>
    %cst_9 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %30 = stablehlo.divide %28, %29 : tensor<6xf32>
    %31 = stablehlo.convert %30 : (tensor<6xf32>) -> tensor<6xi32>
    %32 = stablehlo.divide %arg2, %arg1 : tensor<6x4xi32>
    %33 = call @relu(%arg3) : (tensor<6x6xf32>) -> tensor<6x6xf32>
    %34 = call @_resize(%arg3) : (tensor<6x6xf32>) -> tensor<6x12xf32>
    %cst_10 = stablehlo.constant dense<1.2676506E+30> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %36 = stablehlo.multiply %arg3, %35 : tensor<6x6xf32>
    %37 = stablehlo.negate %arg3 : tensor<6x6xf32>
    %38 = stablehlo.exponential %37 : tensor<6x6xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %40 = stablehlo.add %39, %38 : tensor<6x6xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %42 = stablehlo.divide %41, %40 : tensor<6x6xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %43 = stablehlo.reduce(%arg3 init: %cst_13) applies stablehlo.maximum across dimensions = [1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<6xf32>
    %cst_14 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %45 = stablehlo.maximum %44, %43 : tensor<6xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x6xf32>
    %48 = stablehlo.subtract %arg3, %47 : tensor<6x6xf32>
    %49 = stablehlo.exponential %48 : tensor<6x6xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_15) applies stablehlo.add across dimensions = [1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<6xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x6xf32>
    %53 = stablehlo.divide %49, %52 : tensor<6x6xf32>
    %54 = stablehlo.add %arg2, %arg2 : tensor<6x4xi32>
    %values, %indices = chlo.top_k(%arg3, k = 2) : tensor<6x6xf32> -> (tensor<6x2xf32>, tensor<6x2xi32>)
    %55 = stablehlo.convert %arg3 : (tensor<6x6xf32>) -> tensor<6x6xi32>
    return %14, %21, %22, %23, %24, %26, %31, %11, %13, %32, %33, %34, %36, %42, %53, %54, %values, %55 : tensor<6xi32>, tensor<6x2xf32>, tensor<6x2x3xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6xi32>, tensor<6x6xf32>, tensor<6x4xf32>, tensor<6x4xi32>, tensor<6x6xf32>, tensor<6x12xf32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x4xi32>, tensor<6x2xf32>, tensor<6x6xi32>
  }
  func.func private @_var(%arg0: tensor<6x6xf32> {mhlo.layout_mode = "default"}, %arg1: tensor<i32> {mhlo.layout_mode = "default"}) -> (tensor<6x1xf32> {mhlo.layout_mode = "default"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<6xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %cst_0 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<6x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x6xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<6x6xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<6x6xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<6xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<6x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare  GT, %8, %cst_3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<6x1xf32>, tensor<f32>) -> tensor<6x1xf32>
    return %14 : tensor<6x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1> {mhlo.layout_mode = "default"}, %arg1: tensor<6x1xf32> {mhlo.layout_mode = "default"}, %arg2: tensor<f32> {mhlo.layout_mode = "default"}) -> (tensor<6x1xf32> {mhlo.layout_mode = "default"}) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<6x1xf32>
    return %2 : tensor<6x1xf32>
  }
  func.func private @argmax(%arg0: tensor<6x6xf32>) -> tensor<6xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<6x6xf32>, tensor<6x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<6xf32>, tensor<6xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare  GT, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare  NE, %arg1, %arg1,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare  EQ, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare  LT, %arg2, %arg4,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<6xi32>
  }
  func.func private @_one_hot(%arg0: tensor<6x2xi32> {mhlo.layout_mode = "default"}) -> (tensor<6x2x3xf32> {mhlo.layout_mode = "default"}) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<6x2xi32>) -> tensor<6x2x1xi32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x3xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<6x2x1xi32>) -> tensor<6x2x3xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x3xi32>) -> tensor<6x2x3xi32>
    %4 = stablehlo.compare  EQ, %2, %3,  SIGNED : (tensor<6x2x3xi32>, tensor<6x2x3xi32>) -> tensor<6x2x3xi1>
    %5 = stablehlo.convert %4 : (tensor<6x2x3xi1>) -> tensor<6x2x3xf32>
    return %5 : tensor<6x2x3xf32>
  }
  func.func private @relu(%arg0: tensor<6x6xf32> {mhlo.layout_mode = "default"}) -> (tensor<6x6xf32> {mhlo.layout_mode = "default"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<6x6xf32>
    return %1 : tensor<6x6xf32>
  }
  func.func private @_resize(%arg0: tensor<6x6xf32> {mhlo.layout_mode = "default"}) -> (tensor<6x12xf32> {mhlo.layout_mode = "default"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.maximum %cst, %cst_0 : tensor<f32>
    %1 = stablehlo.iota dim = 0 : tensor<12xf32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %3 = stablehlo.add %1, %2 : tensor<12xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<12xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %7 = stablehlo.subtract %5, %6 : tensor<12xf32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %9 = stablehlo.subtract %7, %8 : tensor<12xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
    %11 = stablehlo.iota dim = 0 : tensor<6xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<6x12xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x12xf32>
    %15 = stablehlo.subtract %13, %14 : tensor<6x12xf32>
    %16 = stablehlo.abs %15 : tensor<6x12xf32>
    %17 = stablehlo.convert %0 : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %19 = stablehlo.divide %16, %18 : tensor<6x12xf32>
    %20 = stablehlo.abs %19 : tensor<6x12xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %22 = stablehlo.subtract %21, %20 : tensor<6x12xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %24 = stablehlo.maximum %23, %22 : tensor<6x12xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<6x12xf32>, tensor<f32>) -> tensor<12xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
    %27 = stablehlo.abs %26 : tensor<1x12xf32>
    %cst_8 = stablehlo.constant dense<1.1920929E-4> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x12xf32>
    %29 = stablehlo.compare  GT, %27, %28,  FLOAT : (tensor<1x12xf32>, tensor<1x12xf32>) -> tensor<1x12xi1>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x12xf32>
    %31 = stablehlo.compare  NE, %26, %30,  FLOAT : (tensor<1x12xf32>, tensor<1x12xf32>) -> tensor<1x12xi1>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %32 = call @_where_0(%31, %26, %c) : (tensor<1x12xi1>, tensor<1x12xf32>, tensor<i32>) -> tensor<1x12xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<6x12xf32>
    %34 = stablehlo.divide %24, %33 : tensor<6x12xf32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %35 = call @_where_1(%29, %34, %c_10) : (tensor<1x12xi1>, tensor<6x12xf32>, tensor<i32>) -> tensor<6x12xf32>
    %cst_11 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %37 = stablehlo.compare  GE, %9, %36,  FLOAT : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xi1>
    %cst_12 = stablehlo.constant dense<5.500000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %39 = stablehlo.compare  LE, %9, %38,  FLOAT : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xi1>
    %40 = stablehlo.and %37, %39 : tensor<12xi1>
    %41 = stablehlo.broadcast_in_dim %40, dims = [1] : (tensor<12xi1>) -> tensor<1x12xi1>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %42 = call @_where_1(%41, %35, %c_13) : (tensor<1x12xi1>, tensor<6x12xf32>, tensor<i32>) -> tensor<6x12xf32>
    %43 = stablehlo.dot_general %arg0, %42, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<6x6xf32>, tensor<6x12xf32>) -> tensor<6x12xf32>
    return %43 : tensor<6x12xf32>
  }
  func.func private @_where_0(%arg0: tensor<1x12xi1> {mhlo.layout_mode = "default"}, %arg1: tensor<1x12xf32> {mhlo.layout_mode = "default"}, %arg2: tensor<i32> {mhlo.layout_mode = "default"}) -> (tensor<1x12xf32> {mhlo.layout_mode = "default"}) {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x12xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<1x12xi1>, tensor<1x12xf32>
    return %2 : tensor<1x12xf32>
  }
  func.func private @_where_1(%arg0: tensor<1x12xi1> {mhlo.layout_mode = "default"}, %arg1: tensor<6x12xf32> {mhlo.layout_mode = "default"}, %arg2: tensor<i32> {mhlo.layout_mode = "default"}) -> (tensor<6x12xf32> {mhlo.layout_mode = "default"}) {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<1x12xi1>) -> tensor<6x12xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<6x12xi1>, tensor<6x12xf32>
    return %3 : tensor<6x12xf32>
  }
}
