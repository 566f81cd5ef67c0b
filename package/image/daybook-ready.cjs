#!/usr/local/bin/node
'use strict'
// The health check of the image: exit code 0 when the service is ready for readers.
const { DAYBOOK_PUBLISH_HOST: host = '0.0.0.0', DAYBOOK_PUBLISH_PORT: port = '8081' } = process.env
const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host
fetch(`http://${name}:${port}/readyz`, { signal: AbortSignal.timeout(4_000) }).then(
  async (response) => {
    process.exitCode = response.ok ? 0 : 1
    process.stdout.write(`${await response.text()}\n`)
  },
  () => {
    process.exitCode = 1
    process.stderr.write(`daybook-ready: no answer from port ${port}\n`)
  },
)
