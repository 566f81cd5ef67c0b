import { writeSync } from 'node:fs'
import { upgrade } from './upgrade-stage.ts'

// A process for `upgrade-crash.slow.test.ts`: an upgrade that stops at a given point and waits to be killed, or runs to its end.
const [, , data = '', stage = '', done = '0'] = process.argv
writeSync(1, 'begun\n')
await upgrade(data, {
  onProgress(progress) {
    if (progress.stage !== stage || progress.done < Number(done)) return
    writeSync(1, 'here\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000)
  },
})
writeSync(1, 'ended\n')
