import { after } from 'node:test'

// For a process of several test files: it fails when it exits before its last test, such as by `process.exit()` in code
// under test. The test runner would take that for success, of all its files.
let isOver = false
after(() => {
  isOver = true
})
process.on('exit', () => {
  if (!isOver) process.exitCode = 1
})
