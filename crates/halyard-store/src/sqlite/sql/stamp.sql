SELECT at FROM stamp
