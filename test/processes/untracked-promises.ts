import asyncHooks from 'node:async_hooks'

// Loaded before the tests of a process. The test runner watches every promise, to name the test that an unhandled
// rejection belongs to, and that takes a sixth of the processor time. Unwatched, such a rejection fails the process.
const { createHook } = asyncHooks
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })
