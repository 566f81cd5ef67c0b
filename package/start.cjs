'use strict'
void import('../dist/src/main.js')
