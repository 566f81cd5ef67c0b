import { readFileSync } from 'node:fs'

/**
 * Loaded into each thread of a writer before its own code (`--import`). The wall clock is off by the milliseconds that
 * the file `STEPPED_CLOCK` holds; an empty or absent file is the right time.
 */
const LOOK_MS = 100
const path = process.env['STEPPED_CLOCK'] ?? ''
const now = Date.now
const look = (): number => {
  try {
    return Number(readFileSync(path, 'utf8')) || 0
  } catch {
    return 0
  }
}
let stepMs = look()
setInterval(() => void (stepMs = look()), LOOK_MS).unref()
Date.now = () => now() + stepMs
