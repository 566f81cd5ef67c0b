import { startLive } from './island-live.ts'
import { changed, isShortcut, storedSetting, say } from './island-still.ts'

try {
  startLive({ say, setting: storedSetting, isShortcut, changed })
} catch {
  // An older browser: the page is not live, and the other scripts continue.
}
