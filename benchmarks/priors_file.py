def written(file):
    return ""
