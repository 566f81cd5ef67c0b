import { existsSync, readFileSync, writeSync } from 'node:fs'
import { createPrivateKey } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { moveBack } from '../../../src/cluster/log/move-back.ts'
import { moveToTable } from '../../../src/cluster/log/move-log.ts'
import { ed25519Of } from '../../../src/command/operator/signing-key-file.ts'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'

// A process for `crashed-move.slow.test.ts`: it moves a log, stops where its code asks for the time, and waits to be killed.
const [, , way, data = '', url = '', stopAt] = process.argv
let asked = 0

function monotonicMs(): number {
  // Way back: the places to stop are those after the last row was noted.
  if (way === 'to' || existsSync(join(data, 'ending'))) asked += 1
  if (asked === Number(stopAt)) {
    writeSync(1, 'here\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000)
  }
  return performance.now()
}

const keyFile = `${data}.key`
await (way === 'to' ? moveToTable : moveBack)({
  dataDirectory: data,
  keys: [ed25519Of(keyFile, createPrivateKey(readFileSync(keyFile)))],
  table: { database: parseDatabaseUrl(url, null), isSingle: true },
  acceptLoss: false,
  nowMs: Date.now,
  monotonicMs,
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
  signal: new AbortController().signal,
  onProgress: () => undefined,
})
