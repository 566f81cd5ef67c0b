import { writeSync } from 'node:fs'
import { buildMirror } from '../../src/mirror/build-mirror.ts'
import { openMirroring } from '../../src/mirror/mirroring.ts'
import { fastSettings } from './mirroring-stage.ts'
import { openHeadCell } from '../../src/log/head-cell.ts'

// A process for `mirror-crash.slow.test.ts`: a mirror whose build stops at a given point and waits to be killed, or that
// follows until it is killed.
const [, , url = '', data = '', stage = '', done = '0'] = process.argv
const settings = { ...fastSettings(url, data), archiveEventsMin: 500 }
const { signal } = new AbortController()
await buildMirror(settings, {
  signal,
  onProgress(progress) {
    if (progress.stage !== stage || progress.done < Number(done)) return
    writeSync(1, 'here\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000)
  },
})
const listeners = { onCommitted: () => void writeSync(1, 'committed\n'), onFault: () => undefined }
using mirroring = openMirroring(settings, openHeadCell(), listeners)
writeSync(1, 'follows\n')
await mirroring.run(signal)
