import { createWriteStream } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { writeDrafts } from './draft-file.ts'
import type { HistoryFileSettings } from './history-file.ts'
import { history } from './history.ts'

const { file, settings }: HistoryFileSettings = workerData
const drafts = await writeDrafts(createWriteStream(file), history(settings))
parentPort?.postMessage(drafts)
