import { openHeadCell } from '../../../src/log/store/head-cell.ts'
import { buildMirror } from '../../../src/mirror/build-mirror.ts'
import { openMirroring } from '../../../src/mirror/mirroring.ts'
import { fastSettings } from '../../mirror/mirroring-stage.ts'

// A process for `killed-mirrors.ts`: builds a mirror, or opens it, follows until it has so many events, and ends.
const [, , url = '', data = '', wanted = '', archiveEventsMin = ''] = process.argv
const settings = { ...fastSettings(url, data), archiveEventsMin: Number(archiveEventsMin) }
const stop = new AbortController()
const built = await buildMirror(settings, { signal: stop.signal, onProgress: () => undefined })
if (built.is === 'contradicted') throw new Error(built.reason)
const cell = openHeadCell()
const look = (): void => {
  if (cell.read() >= Number(wanted)) stop.abort()
}
using mirroring = openMirroring(settings, cell, {
  onCommitted: look,
  onFault: (fault) => void process.stderr.write(`${fault}\n`),
})
look()
const ended = await mirroring.run(stop.signal)
if (ended.is === 'contradicted') throw new Error(ended.reason)
