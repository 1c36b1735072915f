import './style.css'

document.body.append('hello')
