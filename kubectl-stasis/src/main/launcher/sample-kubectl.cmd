@echo off
rem Answers as kubectl does when it lists one checkpoint: what the class archive is made from.
type "%~dp0sample.json"
