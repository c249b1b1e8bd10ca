time make -j8
