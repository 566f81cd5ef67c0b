import { DatabaseSync } from 'node:sqlite'

/**
 * Loaded into each thread of a recorded process before its own code. Moves its wall clock by `RECORDED_CLOCK_MS`, and sets
 * two settings of its connections: `RECORDED_SYNCHRONOUS` and `RECORDED_CHECKPOINT`, the pages of a checkpoint.
 */
const { RECORDED_CLOCK_MS, RECORDED_SYNCHRONOUS, RECORDED_CHECKPOINT } = process.env

const realNow = Date.now
const shift = Number(RECORDED_CLOCK_MS ?? 0)
if (shift !== 0) Date.now = () => realNow() + shift

const exec = Reflect.get(DatabaseSync.prototype, 'exec')
Reflect.set(DatabaseSync.prototype, 'exec', function changed(this: DatabaseSync, sql: string): void {
  let wanted = sql
  if (RECORDED_SYNCHRONOUS !== undefined)
    wanted = wanted.replaceAll('synchronous = FULL', `synchronous = ${RECORDED_SYNCHRONOUS}`)
  if (RECORDED_CHECKPOINT !== undefined)
    wanted = wanted.replaceAll(/wal_autocheckpoint = \d+/g, `wal_autocheckpoint = ${RECORDED_CHECKPOINT}`)
  Reflect.apply(exec, this, [wanted])
})
