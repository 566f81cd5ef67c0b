import './island-frame.ts'
import { startVerify } from './island-verify-forms.ts'

// The page's own part: the checks run here, in the reader's browser, and the commands name the site that it reads.
for (const code of document.querySelectorAll('code')) {
  code.textContent = code.textContent.replaceAll('https://THIS-SITE', location.origin)
}
startVerify()
