package resources

// F1 returns 0.
func F1() int { return 0 }

// F2 returns 1.
func F2() int { return 1 }

// F3 returns 2.
func F3() int { return 2 }

// F4 returns 3.
func F4() int { return 3 }

// F5 returns 4.
func F5() int { return 4 }

// F6 returns 5.
func F6() int { return 5 }

// F7 returns 6.
func F7() int { return 6 }

// F8 returns 7.
func F8() int { return 7 }

// F9 returns 8.
func F9() int { return 8 }

// F10 returns 9.
func F10() int { return 9 }

// F11 returns 10.
func F11() int { return 10 }

// F12 returns 11.
func F12() int { return 11 }

// F13 returns 12.
func F13() int { return 12 }

// F14 returns 13.
func F14() int { return 13 }

// F15 returns 14.
func F15() int { return 14 }

// F16 returns 15.
func F16() int { return 15 }

// F17 returns 16.
func F17() int { return 16 }

// F18 returns 17.
func F18() int { return 17 }

// F19 returns 18.
func F19() int { return 18 }

// F20 returns 19.
func F20() int { return 19 }

// F21 returns 20.
func F21() int { return 20 }

// F22 returns 21.
func F22() int { return 21 }

// F23 returns 22.
func F23() int { return 22 }

// F24 returns 23.
func F24() int { return 23 }

// F25 returns 24.
func F25() int { return 24 }

// F26 returns 25.
func F26() int { return 25 }

// F27 returns 26.
func F27() int { return 26 }

// F28 returns 27.
func F28() int { return 27 }

// F29 returns 28.
func F29() int { return 28 }

// F30 returns 29.
func F30() int { return 29 }

// F31 returns 30.
func F31() int { return 30 }

// F32 returns 31.
func F32() int { return 31 }

// F33 returns 32.
func F33() int { return 32 }

// F34 returns 33.
func F34() int { return 33 }

// F35 returns 34.
func F35() int { return 34 }

// F36 returns 35.
func F36() int { return 35 }

// F37 returns 36.
func F37() int { return 36 }

// F38 returns 37.
func F38() int { return 37 }

// F39 returns 38.
func F39() int { return 38 }

// F40 returns 39.
func F40() int { return 39 }

// F41 returns 40.
func F41() int { return 40 }
