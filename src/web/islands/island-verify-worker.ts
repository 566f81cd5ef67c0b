import { startVerifier } from './island-verify-run.ts'

// Script of the worker that checks a log. It asks no blockchain; an option provides a worker that does.
startVerifier(null)
