@echo off
rem kubectl stasis @VERSION@ for Windows: starts the program in the folder kubectl-stasis beside this file. https://stasis.dev
rem Wants Java 17 or newer: STASIS_JAVA, else JAVA_HOME, else PATH, else where installers put it.
setlocal EnableExtensions DisableDelayedExpansion
set "parts=%~dp0kubectl-stasis"

set "java="
set "version="
if defined STASIS_JAVA call :choose "%STASIS_JAVA%"
if defined JAVA_HOME call :choose "%JAVA_HOME%\bin\java.exe"
for %%i in (java.exe) do call :choose "%%~$PATH:i"
for /d %%i in ("%ProgramFiles%\Eclipse Adoptium\*" "%ProgramFiles%\Microsoft\jdk*" "%ProgramFiles%\Java\*" "%ProgramFiles%\Zulu\*" "%ProgramFiles%\Amazon Corretto\*") do call :choose "%%~i\bin\java.exe"
if defined java goto :found
>&2 echo kubectl stasis: expected Java 17 or newer, got none
>&2 echo   install one (winget install EclipseAdoptium.Temurin.21.JRE), or name it by JAVA_HOME
exit /b 3

:found
rem As in the launcher for other systems. The class archive is made once for each Java, by a list of nothing.
set "options=-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss512k -Xshare:auto -Xlog:disable"
set "main=dev.stasis.kubectl.cli.KubectlStasis"
set "cache=%LOCALAPPDATA%\kubectl-stasis\@ID@"
set "key=%java:\=_%"
set "key=%key::=_%"
set "archive=%cache%\classes-%version%-%key%.jsa"
if not exist "%archive%" call :archive

rem A console is not told from a file here, so progress is printed as lines.
set "STASIS_TERMINAL=no"
"%java%" %options% -XX:SharedArchiveFile="%archive%" %STASIS_JAVA_OPTIONS% -cp "%parts%\lib\*" %main% %*
exit /b %ERRORLEVEL%

rem Sets java and version, unless there is one already, or this one does not exist or is too old.
:choose
if defined java exit /b 0
if "%~1"=="" exit /b 0
if not exist "%~1" exit /b 0
set "release="
for %%h in ("%~dp1..") do set "release=%%~fh\release"
set "number=unknown"
if exist "%release%" for /f "usebackq tokens=1,2 delims==" %%a in ("%release%") do if "%%a"=="JAVA_VERSION" set "number=%%~b"
if "%number%"=="unknown" goto :accept
set "major=0"
for /f "tokens=1 delims=." %%m in ("%number%") do set "major=%%m"
if %major% LSS 17 exit /b 0
:accept
set "java=%~1"
set "version=%number%"
exit /b 0

:archive
if not exist "%cache%" mkdir "%cache%" 2>nul
if not exist "%cache%" exit /b 0
setlocal
set "made=%archive%.%RANDOM%"
set "KUBECTL=%parts%\sample-kubectl.cmd"
"%java%" %options% -XX:DumpLoadedClassList="%made%.list" -cp "%parts%\lib\*" %main% list -A >nul 2>&1
"%java%" %options% -Xshare:dump -XX:SharedClassListFile="%made%.list" -XX:SharedArchiveFile="%made%" -cp "%parts%\lib\*" >nul 2>&1
if not exist "%made%" type nul >"%made%" 2>nul
del "%made%.list" 2>nul
move /y "%made%" "%archive%" >nul 2>&1
endlocal
exit /b 0
